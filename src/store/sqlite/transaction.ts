// Runs a group of jobs in one transaction on a connection that writes: each job on its own, then one commit for all.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { foldName, type NewPlant, revisionOf } from '../../domain/plant.ts'
import { type Preconditions, unmetPrecondition } from '../../domain/preconditions.ts'
import type { ImportOutcome, OnConflict } from '../../domain/store.ts'
import type {
  CreatePlantJob,
  CreateTokenJob,
  DeletePlantJob,
  Job,
  KeyOfPlant,
  Outcome,
  ReplacePlantJob,
  RevokeTokenJob,
} from '../jobs.ts'
import { resultCode, sqliteResultCode } from './database.ts'

/** Outlived keys that each new key takes away: more than one, so that they never pile up. */
const outlivedKeysTaken = 2

/** An error that is one job's own. */
class JobFailure extends Error {
  readonly job: Job

  constructor(job: Job, cause: unknown) {
    super(`${job.kind} failed`, { cause })
    this.job = job
  }
}

export class TransactionRunner {
  readonly #database: DatabaseSync
  readonly #idempotencyKeyMs: number
  readonly #insertPlant: StatementSync
  readonly #findPlant: StatementSync
  readonly #updatePlant: StatementSync
  readonly #deletePlant: StatementSync
  readonly #findKey: StatementSync
  readonly #keepKey: StatementSync
  readonly #takeOutlivedKeys: StatementSync
  readonly #findAnyToken: StatementSync
  readonly #insertToken: StatementSync
  readonly #revokeToken: StatementSync

  /** @param database a connection from `openWritable`. */
  constructor(database: DatabaseSync, idempotencyKeyMs: number) {
    this.#database = database
    this.#idempotencyKeyMs = idempotencyKeyMs
    this.#insertPlant = prepare(
      database,
      'INSERT INTO plants (id, name, tag, name_folded) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING',
    )
    this.#findPlant = prepare(database, 'SELECT name, tag FROM plants WHERE id = ?')
    this.#updatePlant = prepare(database, 'UPDATE plants SET name = ?, tag = ?, name_folded = ? WHERE id = ?')
    this.#deletePlant = prepare(database, 'DELETE FROM plants WHERE id = ?')
    this.#findKey = prepare(
      database,
      'SELECT fingerprint FROM idempotency_keys WHERE token_id = ? AND key = ? AND created_at_ms > ?',
    )
    this.#keepKey = prepare(
      database,
      `INSERT INTO idempotency_keys (token_id, key, fingerprint, created_at_ms) VALUES (?, ?, ?, ?)
       ON CONFLICT (token_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, created_at_ms = excluded.created_at_ms`,
    )
    this.#takeOutlivedKeys = prepare(
      database,
      `DELETE FROM idempotency_keys WHERE (token_id, key) IN (
         SELECT token_id, key FROM idempotency_keys WHERE created_at_ms <= ? ORDER BY created_at_ms LIMIT ${outlivedKeysTaken})`,
    )
    this.#findAnyToken = prepare(database, 'SELECT 1 FROM tokens LIMIT 1')
    this.#insertToken = prepare(
      database,
      `INSERT INTO tokens (id, hash, name, scopes, created_at_ms, expires_at_ms, revoked_at_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#revokeToken = prepare(database, 'UPDATE tokens SET revoked_at_ms = coalesce(revoked_at_ms, ?) WHERE id = ?')
  }

  /**
   * Does the jobs durably, in order, and gives one outcome each. A job that fails by itself is left out, and the others
   * are done as if it had never come. When it throws, nothing was done or the outcome is unknown; `rollbackReason`
   * tells which.
   */
  run(jobs: readonly Job[]): Outcome[] {
    const failures = new Map<Job, Outcome>()
    for (;;) {
      try {
        return this.#runTransaction(jobs, failures)
      } catch (error) {
        if (!(error instanceof JobFailure)) throw error
        failures.set(error.job, { failed: String(error.cause) })
      }
    }
  }

  #runTransaction(jobs: readonly Job[], failures: ReadonlyMap<Job, Outcome>): Outcome[] {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      const outcomes = jobs.map((job) => failures.get(job) ?? this.#runJob(job))
      this.#database.exec('COMMIT')
      return outcomes
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }

  #runJob(job: Job): Outcome {
    try {
      switch (job.kind) {
        case 'createPlant':
          return job.idempotencyKey === undefined ? this.#insert(job) : this.#createOnce(job, job.idempotencyKey)
        case 'replacePlant':
          return this.#replace(job)
        case 'deletePlant':
          return this.#delete(job)
        case 'createToken':
          return this.#createToken(job)
        case 'revokeToken':
          return this.#revoke(job)
      }
    } catch (error) {
      throw concernsTheFile(error) ? error : new JobFailure(job, error)
    }
  }

  /** Adds plants to the open transaction, or to a new one, which stays open. */
  importPlants(plants: readonly NewPlant[], onConflict: OnConflict): ImportOutcome[] {
    if (!this.#database.isTransaction) this.#database.exec('BEGIN IMMEDIATE')
    return plants.map((plant) => this.#import(plant, onConflict))
  }

  /** Keeps what was imported. */
  commitImport(): void {
    if (this.#database.isTransaction) this.#database.exec('COMMIT')
  }

  /** Undoes what was imported and not kept. */
  endImport(): void {
    if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
  }

  #import(plant: NewPlant, onConflict: OnConflict): ImportOutcome {
    if (this.#insert(plant) === 'created') return 'created'
    if (onConflict === 'fail') return 'idTaken'
    if (onConflict === 'skip' || this.#judge(plant.id, { ifNoneMatch: [revisionOf(plant)] }) !== 'met')
      return 'unchanged'
    this.#update(plant)
    return 'replaced'
  }

  #insert({ id, name, tag }: { id: bigint; name: string; tag?: string | undefined }): Outcome {
    return this.#insertPlant.run(id, name, tag ?? null, foldName(name)).changes === 1n ? 'created' : 'idTaken'
  }

  #replace(job: ReplacePlantJob): Outcome {
    const judgement = this.#judge(job.id, job.preconditions)
    if (judgement !== 'met') return judgement
    this.#update(job)
    return 'done'
  }

  #delete({ id, preconditions }: DeletePlantJob): Outcome {
    const judgement = this.#judge(id, preconditions)
    if (judgement !== 'met') return judgement
    this.#deletePlant.run(id)
    return 'done'
  }

  #update({ id, name, tag }: { id: bigint; name: string; tag?: string | undefined }): void {
    this.#updatePlant.run(name, tag ?? null, foldName(name), id)
  }

  /** Whether the plant with an id is there and meets the preconditions, or which one it does not. */
  #judge(id: bigint, preconditions: Preconditions): 'met' | 'notDone' | keyof Preconditions {
    const row = this.#findPlant.get(id) as { name: string; tag: string | null } | undefined
    if (row === undefined) return 'notDone'
    const { name, tag } = row
    return unmetPrecondition(tag === null ? { id, name } : { id, name, tag }, preconditions) ?? 'met'
  }

  #createOnce(job: CreatePlantJob, { tokenId, key, fingerprint, atMs }: KeyOfPlant): Outcome {
    const outlivedAtMs = BigInt(atMs - this.#idempotencyKeyMs)
    const earlier = this.#findKey.get(tokenId, key, outlivedAtMs)?.['fingerprint']
    if (earlier instanceof Uint8Array) {
      return Buffer.compare(earlier, fingerprint) === 0 ? 'replayed' : 'idempotencyKeyReused'
    }
    const outcome = this.#insert(job)
    if (outcome === 'created') {
      this.#keepKey.run(tokenId, key, fingerprint, BigInt(atMs))
      this.#takeOutlivedKeys.run(outlivedAtMs)
    }
    return outcome
  }

  #createToken({ token, onlyFirst }: CreateTokenJob): Outcome {
    if (onlyFirst && this.#findAnyToken.get() !== undefined) return 'notDone'
    this.#insertToken.run(
      token.id,
      token.hash,
      token.name,
      token.scopes.join(' '),
      BigInt(token.createdAtMs),
      toInteger(token.expiresAtMs),
      toInteger(token.revokedAtMs),
    )
    return 'done'
  }

  #revoke({ id, revokedAtMs }: RevokeTokenJob): Outcome {
    return this.#revokeToken.run(BigInt(revokedAtMs), id).changes === 1n ? 'done' : 'notDone'
  }
}

/** `run` of any statement also reads the connection's last row id, which is a plant's id and so needs a bigint. */
function prepare(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql)
  statement.setReadBigInts(true)
  return statement
}

/** Whether an error that `run` threw is sure to have left nothing behind, and which; undefined when it is not sure. */
export function rollbackReason(error: unknown): 'storeFull' | 'overloaded' | undefined {
  const code = sqliteResultCode(error)
  if (code === resultCode.full) return 'storeFull'
  return code === resultCode.busy || code === resultCode.locked ? 'overloaded' : undefined
}

/** Constraint and type errors are a job's own; anything else of SQLite's, as a full or failing disk, is everyone's. */
function concernsTheFile(error: unknown): boolean {
  const code = sqliteResultCode(error)
  return (
    code !== undefined && ![resultCode.constraint, resultCode.mismatch, resultCode.tooBig].some((own) => own === code)
  )
}

/** Times are bound as integers: a JavaScript number would be bound as a floating point value. */
function toInteger(ms: number | undefined): bigint | null {
  return ms === undefined ? null : BigInt(ms)
}
