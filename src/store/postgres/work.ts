// The statements of a transaction for a batch of changes. Plain creates are sent in one round trip. All others take
// two: the lookups of the ledger, then the writes that it decides on.

import { randomBytes } from 'node:crypto'
import { lineOf, rowsOf } from '../change-log.ts'
import { isPlainCreate, type Job, type JobOf, type Outcome } from '../jobs.ts'
import { decide, lookupsOf } from '../ledger.ts'
import { named, type Row } from './connections/connection.ts'
import { assertCommitted, beginOn, type Committed, type Registration } from './registrations.ts'
import { columnsOf, find, sendEffects, type WriteOptions } from './transaction.ts'

/** One attempt at a transaction. */
export interface Attempt {
  readonly registration: Registration
  readonly number: bigint
  /** 64 random bits, stored with every plant that the transaction writes. */
  readonly mark: bigint
  /** If true, the transaction may have committed. */
  isCommitSent: boolean
}

export interface Work {
  /** Throws Unregistered if the row of the connection is gone; nothing was done. */
  run(attempt: Attempt): Promise<readonly Outcome[]>
  /** Returns the outcomes of a committed attempt whose answer was lost. */
  recall(committed: Committed): readonly Outcome[]
}

/** The row of the connection is gone; nothing was done. */
export class Unregistered extends Error {}

export function beginAttempt(registration: Registration): Attempt {
  return {
    registration,
    number: registration.lastCommit + 1n,
    mark: randomBytes(8).readBigInt64BE(),
    isCommitSent: false,
  }
}

export function workOf(jobs: readonly Job[], options: WriteOptions): Work {
  return jobs.every(isPlainCreate) ? createWork(jobs, options) : ledgerWork(jobs, options)
}

const statements = named({
  lockRegistration: 'SELECT 1 FROM registrations WHERE id = $1 AND last_commit = $2 FOR UPDATE',
  createPlants: `INSERT INTO plants (id, plant, name_folded, commit_mark)
    SELECT id, plant::json, name_folded, $4::int8
      FROM unnest($1::int8[], $2::text[], $3::text[]) WITH ORDINALITY AS new (id, plant, name_folded, place)
      WHERE EXISTS (SELECT 1 FROM registrations WHERE id = $5 AND last_commit = $6)
      ORDER BY id, place
    ON CONFLICT (id) DO NOTHING`,
  /**
   * Adds the created plants to the log, and records the ids that other sessions took. Fails if a row is missing, for
   * example if a trigger skipped it.
   */
  noteCreates: `WITH seen AS (
      SELECT count(*) AS plants, count(*) FILTER (WHERE commit_mark = $4) AS created,
        coalesce(array_agg(id) FILTER (WHERE commit_mark <> $4), '{}') AS taken_ids
      FROM plants WHERE id = ANY($3::int8[])),
    logged AS (
      INSERT INTO changes (changes, at_ms, lines)
      SELECT count(*), $8, string_agg(line, E'\\n' ORDER BY place)
      FROM plants JOIN unnest($3::int8[], $6::text[], $7::int8[]) WITH ORDINALITY AS new (id, line, part, place) USING (id)
      WHERE commit_mark = $4 GROUP BY part ORDER BY part
      RETURNING changes)
    UPDATE registrations
    SET last_commit = (CASE WHEN seen.plants = $5 AND seen.created = (SELECT coalesce(sum(changes), 0) FROM logged)
        THEN $2::text ELSE 'not every row was written' END)::int8,
      taken_ids = seen.taken_ids
    FROM seen WHERE registrations.id = $1 RETURNING registrations.taken_ids`,
  advance: `UPDATE registrations SET last_commit = $2, taken_ids = '{}' WHERE id = $1 AND last_commit = $3`,
})

/** The fast path for plain creates: one round trip. */
function createWork(jobs: readonly JobOf<'createPlant'>[], { atMs, changeRowCharactersMax }: WriteOptions): Work {
  const firstOfId = new Map<bigint, JobOf<'createPlant'>>()
  for (const job of jobs) if (!firstOfId.has(job.id)) firstOfId.set(job.id, job)
  const ids = [...firstOfId.keys()]
  const lines = Array.from(firstOfId.values(), (job) => lineOf({ kind: 'created', plant: job, callerId: job.callerId }))
  const parts = rowsOf(lines, changeRowCharactersMax).flatMap(({ changes }, part) => Array(changes).fill(part))
  const recall = ({ takenIds }: Committed): readonly Outcome[] => {
    const taken = new Set(takenIds)
    return jobs.map(({ id }) => {
      if (taken.has(id)) return 'idTaken'
      taken.add(id)
      return 'created'
    })
  }
  return {
    recall,
    run: async (attempt) => {
      const { registration, number, mark } = attempt
      const { connection, id, lastCommit } = registration
      attempt.isCommitSent = true
      const [, , , noted] = await connection.sendTogether<unknown>(() => [
        beginOn(connection),
        connection.query(statements.lockRegistration, [id, lastCommit]),
        connection.query(statements.createPlants, [...columnsOf(jobs), mark, id, lastCommit]),
        connection.query(statements.noteCreates, [id, number, ids, mark, ids.length, lines, parts, atMs]),
        connection.command('COMMIT').then(assertCommitted),
      ])
      const [row] = noted as readonly Row[]
      if (row === undefined) throw new Unregistered('the row of this connection is gone')
      return recall({ takenIds: row[0] as readonly bigint[] })
    },
  }
}

/** Looks up first, then writes. The outcomes are known before the commit is sent. */
function ledgerWork(jobs: readonly Job[], options: WriteOptions): Work {
  let decided: readonly Outcome[] | undefined
  return {
    run: async (attempt) => {
      const { registration, mark } = attempt
      const { connection } = registration
      const [, , found] = await connection.sendTogether<unknown>(() => [
        beginOn(connection),
        advance(attempt),
        find(connection, lookupsOf(jobs)),
      ])
      const { outcomes, effects } = decide(jobs, found as Awaited<ReturnType<typeof find>>, options.idempotencyKeyMs)
      decided = outcomes
      attempt.isCommitSent = true
      await connection.sendTogether<unknown>(() => [
        ...sendEffects(connection, effects, mark, options),
        connection.command('COMMIT').then(assertCommitted),
      ])
      return outcomes
    },
    recall: () => {
      if (decided === undefined) throw new TypeError('a commit was sent before its outcomes were known')
      return decided
    },
  }
}

/** Locks the row of the connection and sets its number, as the first statement of a transaction. */
export async function advance({ registration, number }: Attempt): Promise<void> {
  const { connection, id, lastCommit } = registration
  const { rowCount } = await connection.run(statements.advance, [id, number, lastCommit])
  if (rowCount !== 1) throw new Unregistered('the row of this connection is gone')
}
