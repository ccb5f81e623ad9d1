// Runs a batch of jobs in one transaction: looks up the rows that the ledger needs, lets it decide, and writes its
// effects.

import type { DatabaseSync } from 'node:sqlite'
import { nameHeadOf, namesOf, type Plant, type PlantNames } from '../../domain/plant.ts'
import type { Limits } from '../../limits.ts'
import { lineOf, rowsOf } from '../change-log.ts'
import {
  decide,
  type Effects,
  isPlainCreate,
  type Job,
  type JobOf,
  type LookupResult,
  type Lookups,
  lookupsOf,
  type Outcome,
} from '../ledger.ts'
import { commonStatements, commonWrites, toFound } from '../rows.ts'
import { hasFailed, prepareAll, type Statements, sqliteFailure } from './file/database.ts'

/** Expired keys that each new key deletes: more than one, so that they never accumulate. */
const expiredKeysDeleted = 2

const statements = {
  ...commonStatements,
  insertPlant: 'INSERT INTO plants (id, plant) VALUES (?, ?) ON CONFLICT (id) DO NOTHING',
  findPlant: 'SELECT id, plant FROM plants WHERE id = ?',
  updatePlant: 'UPDATE plants SET plant = ? WHERE id = ?',
  deletePlant: 'DELETE FROM plants WHERE id = ?',
  insertName: 'INSERT INTO names (head, id) VALUES (?, ?)',
  deleteName: 'DELETE FROM names WHERE head = ? AND id = ?',
  count: `INSERT INTO plant_counts (of, plants) VALUES (?, ?)
    ON CONFLICT (of) DO UPDATE SET plants = plants + excluded.plants`,
  dropCount: 'DELETE FROM plant_counts WHERE of = ? AND plants = 0',
  findKey: `SELECT caller_id, key, fingerprint, created_at_ms FROM idempotency_keys
    WHERE caller_id = ? AND key = ?`,
  upsertKey: `INSERT INTO idempotency_keys (caller_id, key, fingerprint, created_at_ms) VALUES (?, ?, ?, ?)
    ON CONFLICT (caller_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, created_at_ms = excluded.created_at_ms`,
  deleteExpiredKeys: `DELETE FROM idempotency_keys WHERE (caller_id, key) IN (
    SELECT caller_id, key FROM idempotency_keys WHERE created_at_ms <= ? ORDER BY created_at_ms LIMIT ?)`,
  appendChanges: `INSERT INTO changes SELECT first + changes, ?1, ?2, end_bytes + octet_length(?3), ?3
    FROM changes ORDER BY first DESC LIMIT 1`,
  deleteChanges: 'DELETE FROM changes WHERE first = ?',
  findRecord: 'SELECT kind, id, version FROM records WHERE kind = ? AND id = ?',
} as const

/** How much to add to each row of plant_counts, which migrations.ts describes. */
type Counts = Map<string, number>

export class TransactionRunner {
  readonly #database: DatabaseSync
  readonly #limits: Pick<Limits, 'idempotencyKeyMs' | 'changeRowCharactersMax'>
  readonly #statements: Statements<keyof typeof statements>

  /** @param database a connection from `openWritable`. */
  constructor(database: DatabaseSync, limits: Pick<Limits, 'idempotencyKeyMs' | 'changeRowCharactersMax'>) {
    this.#database = database
    this.#limits = limits
    this.#statements = prepareAll(database, statements)
  }

  /**
   * Runs jobs durably, in order, and returns one outcome each. Bisection isolates a job that fails by itself; it does
   * not affect the others. If this throws, nothing was done or the outcome is unknown; see `rollbackReason`.
   *
   * @param atMs the time of the changes, by the wall clock.
   */
  run(jobs: readonly Job[], atMs: number): Outcome[] {
    try {
      return this.#runTransaction(jobs, atMs)
    } catch (error) {
      if (concernsTheFile(error)) throw error
      if (jobs.length === 1) return [{ failed: String(error) }]
      const middle = Math.ceil(jobs.length / 2)
      const first = this.run(jobs.slice(0, middle), atMs)
      return [...first, ...this.#runSecond(jobs.slice(middle), atMs)]
    }
  }

  /** After the first half is committed, a rollback of the second concerns only its own jobs. */
  #runSecond(jobs: readonly Job[], atMs: number): Outcome[] {
    try {
      return this.run(jobs, atMs)
    } catch (error) {
      if (rollbackReason(error) === undefined) throw new Error('the second half of a batch failed', { cause: error })
      return jobs.map(() => ({ failed: String(error) }))
    }
  }

  #runTransaction(jobs: readonly Job[], atMs: number): Outcome[] {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      const outcomes = this.#do(jobs, atMs)
      this.#database.exec('COMMIT')
      return outcomes
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }

  /** Plain creates take a fast path: INSERT looks up, decides and writes at once. */
  #do(jobs: readonly Job[], atMs: number): Outcome[] {
    if (jobs.every(isPlainCreate)) return this.#create(jobs, atMs).map((isNew) => (isNew ? 'created' : 'idTaken'))
    const { outcomes, effects } = decide(jobs, this.#find(lookupsOf(jobs)), this.#limits.idempotencyKeyMs)
    this.#apply(effects, atMs)
    return [...outcomes]
  }

  /** Adds plants to the open transaction, or to a new one, which stays open. Returns one outcome each. */
  import(jobs: readonly JobOf<'importPlant'>[], atMs: number): Outcome[] {
    if (!this.#database.isTransaction) this.#database.exec('BEGIN IMMEDIATE')
    // New plants take the fast path of plain creates. Outcomes do not depend on the order among different ids.
    const isNew = this.#create(jobs, atMs)
    const rest = this.#do(
      jobs.filter((_, index) => !isNew[index]),
      atMs,
    )
    return isNew.map((is) => (is ? 'created' : (rest.shift() as Outcome)))
  }

  /** Ends the transaction of an import, if one is open. */
  endImport(end: 'COMMIT' | 'ROLLBACK'): void {
    if (this.#database.isTransaction) this.#database.exec(end)
  }

  #find({ plants, keys, records, firstToken, sweeps }: Lookups): LookupResult {
    const { findPlant, findKey, findRecord, findAnyToken, findSweepable } = this.#statements
    return toFound({
      plants: plants.flatMap((id) => findPlant.all(id)),
      keys: keys.flatMap(({ callerId, key }) => findKey.all(callerId, key)),
      records: records.flatMap(({ kind, id }) => findRecord.all(kind, id)),
      anyToken: firstToken ? findAnyToken.all() : [],
      sweepable: sweeps.map(({ untilMs, rowsMax, keptFrom, futureMs }) =>
        findSweepable.all(BigInt(untilMs), BigInt(rowsMax), keptFrom, BigInt(futureMs)),
      ),
    })
  }

  /** Inserts plants whose ids are free. Returns whether each was inserted. */
  #create(jobs: readonly JobOf<'createPlant' | 'importPlant'>[], atMs: number): readonly boolean[] {
    const counts: Counts = new Map()
    const lines: string[] = []
    const isNew = jobs.map((job) => {
      const names = this.#insert(job)
      if (names === undefined) return false
      countPlant(counts, names, 1)
      const callerId = job.kind === 'createPlant' ? job.callerId : undefined
      lines.push(lineOf({ kind: 'created', plant: job, callerId }))
      return true
    })
    this.#count(counts)
    this.#append(lines, atMs)
    return isNew
  }

  #append(added: readonly string[], atMs: number): void {
    for (const { changes: count, lines } of rowsOf(added, this.#limits.changeRowCharactersMax)) {
      const { changes: rows } = this.#statements.appendChanges.run(BigInt(count), BigInt(atMs), lines)
      if (rows !== 1n) throw new Error('the log of changes has no beginning')
    }
  }

  #count(counts: Counts): void {
    const { count, dropCount } = this.#statements
    for (const [of, difference] of counts) {
      if (difference !== 0) count.run(of, BigInt(difference))
      if (difference < 0) dropCount.run(of)
    }
  }

  #apply(effects: Effects, atMs: number): void {
    const { deleted, updated, inserted, keys, changes, swept } = effects
    const { deletePlant, updatePlant, insertName, deleteName } = this.#statements
    const { upsertKey, deleteExpiredKeys, deleteChanges } = this.#statements
    const { idempotencyKeyMs } = this.#limits
    const counts: Counts = new Map()
    for (const { id, json } of deleted) {
      const names = namesOf(json)
      deletePlant.run(id)
      deleteName.run(nameHeadOf(names), id)
      countPlant(counts, names, -1)
    }
    for (const { id, json, before } of updated) {
      const [old, now] = [namesOf(before), namesOf(json)]
      updatePlant.run(json, id)
      countPlant(counts, old, -1)
      countPlant(counts, now, 1)
      if (nameHeadOf(old) === nameHeadOf(now)) continue
      deleteName.run(nameHeadOf(old), id)
      insertName.run(nameHeadOf(now), id)
    }
    for (const plant of inserted) {
      const names = this.#insert(plant)
      if (names !== undefined) countPlant(counts, names, 1)
    }
    this.#count(counts)
    for (const { callerId, key, fingerprint, atMs } of keys) {
      upsertKey.run(callerId, key, fingerprint, BigInt(atMs))
      deleteExpiredKeys.run(BigInt(atMs - idempotencyKeyMs), BigInt(expiredKeysDeleted))
    }
    this.#append(changes.map(lineOf), atMs)
    for (const first of swept) deleteChanges.run(first)
    for (const [name, ...values] of commonWrites(effects)) this.#statements[name].run(...values)
  }

  /** Returns undefined if the id is taken. */
  #insert({ id, json }: Plant): PlantNames | undefined {
    const { insertPlant, insertName } = this.#statements
    if (insertPlant.run(id, json).changes === 0n) return undefined
    const names = namesOf(json)
    insertName.run(nameHeadOf(names), id)
    return names
  }
}

/** The reason why an error of `run` certainly left no changes; undefined if the outcome is unknown. */
export function rollbackReason(error: unknown): 'storeFull' | 'overloaded' | undefined {
  if (hasFailed(error, 'full')) return 'storeFull'
  return hasFailed(error, 'busy', 'locked') ? 'overloaded' : undefined
}

function countPlant(counts: Counts, { tag }: PlantNames, by: 1 | -1): void {
  for (const of of tag === undefined ? [''] : ['', `#${tag}`]) counts.set(of, (counts.get(of) ?? 0) + by)
}

/** Constraint and type errors concern one job. All other SQLite errors, such as a full disk, concern every job. */
function concernsTheFile(error: unknown): boolean {
  return sqliteFailure(error) !== undefined && !hasFailed(error, 'constraint', 'mismatch', 'tooBig')
}
