// Bulk work on connections of its own: imports, exports, and the check of a store.

import { AppError } from '../../domain/errors.ts'
import { foldName, int64Max, int64Min, isPlantOf, namesOf, type Plant } from '../../domain/plant.ts'
import type { ImportOutcome, OnConflict, PlantImport } from '../../domain/store.ts'
import type { CheckReport, StoreOptions } from '../engine.ts'
import { decide, type JobOf, lookupsOf } from '../ledger.ts'
import { toPlant } from '../rows.ts'
import type { Committer } from './committer.ts'
import { type DatabaseOptions, locate } from './connections/address.ts'
import { type Connection, openForBulk, type Row } from './connections/connection.ts'
import { explainConnectFailure, failureOf, Locked, refusalOf } from './connections/failures.ts'
import { migrate } from './connections/tables.ts'
import { lookUp, makeRowId } from './lost-commits.ts'
import { pageQueries } from './pages.ts'
import { find, sendEffects } from './transaction.ts'

export function batchImport(committer: Committer, { clock, limits }: DatabaseOptions): PlantImport {
  return {
    isCommitted: true,
    add: async (plants, onConflict) => {
      if (plants.length === 0) return []
      const deadlineMs = clock.monotonicMs() + limits.databaseCommitMsMax
      for (;;) {
        try {
          return (await committer.commit(toJobs(plants, onConflict), deadlineMs)) as readonly ImportOutcome[]
        } catch (error) {
          if (!(error instanceof Locked)) throw error
          if (clock.monotonicMs() >= deadlineMs) throw refusalOf('locked', error)
        }
      }
    },
    commit: async () => {},
    end: async () => {},
  }
}

export async function wholeImport(options: DatabaseOptions): Promise<PlantImport> {
  const { clock, limits } = options
  const connection = await openForBulk(options, limits.databaseBulkMsMax)
  let isBegun = false
  /** The id of a row that shows the commit. */
  let rowId = makeRowId(clock.wallMs())
  return {
    get isCommitted() {
      return !isBegun
    },
    add: async (plants, onConflict) => {
      if (plants.length === 0) return []
      const jobs = toJobs(plants, onConflict)
      try {
        if (!isBegun) await connection.begin()
        isBegun = true
        const { outcomes, effects } = decide(jobs, await find(connection, lookupsOf(jobs)), limits.idempotencyKeyMs)
        const atMs = clock.wallMs()
        const id = makeRowId(atMs)
        await connection.sendTogether(() => sendEffects(connection, effects, { ...limits, id, atMs }))
        if (effects.changes.length > 0) rowId = id
        return outcomes as readonly ImportOutcome[]
      } catch (cause) {
        throw nothingKept(cause)
      }
    },
    commit: async () => {
      if (!isBegun) return
      try {
        await connection.commit()
      } catch (cause) {
        if (failureOf(cause) !== 'lost') throw nothingKept(cause)
        connection.lose(cause)
        const isKept = await lookUp(rowId, options, clock.monotonicMs() + limits.databaseBulkMsMax)
        if (!isKept) throw nothingKept(cause)
      }
      isBegun = false
      connection.assertConfirmed()
    },
    // Closing the connection rolls back an open transaction.
    end: () => connection.close(),
  }
}

function toJobs(plants: readonly Plant[], onConflict: OnConflict): readonly JobOf<'importPlant'>[] {
  return plants.map(({ id, json }) => ({ kind: 'importPlant', id, json, onConflict }))
}

function nothingKept(cause: unknown): AppError {
  return new AppError('overloaded', 'the import met another change or lost the database; nothing was kept, try again', {
    cause,
  })
}

export async function* exportBatches(options: DatabaseOptions): AsyncGenerator<readonly Plant[]> {
  const { databaseBulkMsMax, exportBatchPlants } = options.limits
  await using connection = await openForBulk(options, databaseBulkMsMax)
  for await (const rows of walk(connection, exportBatchPlants, pageQueries.rowsById)) yield rows.map(toPlant)
}

/**
 * Reads a snapshot of plants by ascending id, and leaves its transaction open.
 *
 * @param text a query for rows that begin with their id. Its parameters are the first id and the number of rows.
 */
async function* walk(connection: Connection, batchPlants: number, text: string): AsyncGenerator<readonly Row[]> {
  await connection.command('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  const read = (from: bigint): Promise<readonly Row[]> => connection.query({ name: 'walk', text }, [from, batchPlants])
  for (let batch = await read(int64Min); batch.length > 0; ) {
    const last = batch.at(-1)?.[0] as bigint
    // Read ahead while the caller uses this batch.
    const next = batch.length < batchPlants || last === int64Max ? Promise.resolve([]) : read(last + 1n)
    // `await next` reports a failure.
    next.catch(() => {})
    yield batch
    batch = await next
  }
}

const readNames = 'SELECT id, plant::text, name_folded FROM plants WHERE id >= $1 ORDER BY id LIMIT $2'
const problemsShown = 20

/** Checks the content of a store. To check the files of the database, use pg_amcheck. */
export async function checkPostgres(url: string, options: StoreOptions): Promise<CheckReport> {
  const database = locate(url, options)
  try {
    await using connection = await openForBulk(database)
    await migrate(connection, { ...database, mayMake: false })
    const problems: string[] = []
    let plants = 0
    for await (const rows of walk(connection, options.limits.exportBatchPlants, readNames)) {
      plants += rows.length
      for (const [id, json, folded] of rows as unknown as readonly [bigint, string, string][]) {
        if (!isPlantOf(id, json)) problems.push(`plant ${id} has another id, or no name, in its JSON`)
        else if (folded !== foldName(namesOf(json).name)) problems.push(`plant ${id} cannot be found by its name`)
      }
    }
    problems.push(...(await compareCounts(connection, plants)))
    return { problems: problems.slice(0, problemsShown), plants }
  } catch (cause) {
    throw explainConnectFailure(cause, database.place)
  }
}

/** Compares the number of plants in a sequential scan with the number found by the primary key. */
async function compareCounts(connection: Connection, plants: number): Promise<string[]> {
  await connection.command('SET LOCAL enable_indexscan = off')
  await connection.command('SET LOCAL enable_indexonlyscan = off')
  await connection.command('SET LOCAL enable_bitmapscan = off')
  const [row] = await connection.query({ name: 'countPlants', text: 'SELECT count(*) FROM plants' })
  const there = Number(row?.[0])
  return there === plants ? [] : [`the table has ${there} plants, its primary key leads to ${plants}`]
}
