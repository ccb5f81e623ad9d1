// Checks the content of a store in PostgreSQL. To check the files of the database, use pg_amcheck.

import { foldName, namesOf } from '../../domain/plant.ts'
import type { CheckReport, StoreOptions } from '../engine.ts'
import { type Connection, openForBulk } from './connections/connection.ts'
import { explainConnectFailure } from './connections/failures.ts'
import { locate } from './connections/session-options.ts'
import { migrate } from './migrations.ts'
import { walk } from './walk.ts'

const readNames = 'SELECT id, plant::text, name_folded FROM plants WHERE id >= $1 ORDER BY id LIMIT $2'
const problemsShown = 20

/** @throws OperatorError if the database cannot be reached or has no store. */
export async function checkPostgres(url: string, options: StoreOptions): Promise<CheckReport> {
  const database = locate(url, options)
  const connection = await openForBulk(database).catch((cause) => {
    throw explainConnectFailure(cause, database.place)
  })
  try {
    await migrate(connection, { ...database, mayMake: false })
    const problems: string[] = []
    let plants = 0
    for await (const rows of walk(connection, options.limits.exportBatchPlants, readNames)) {
      plants += rows.length
      for (const [id, json, folded] of rows as unknown as readonly [bigint, string, string][]) {
        if (!json.startsWith(`{"id":${id}`)) problems.push(`plant ${id} has another id in its JSON`)
        if (folded !== foldName(namesOf(json).name)) problems.push(`plant ${id} cannot be found by its name`)
      }
    }
    problems.push(...(await compareCounts(connection, plants)))
    return { problems: problems.slice(0, problemsShown), plants }
  } catch (cause) {
    throw explainConnectFailure(cause, database.place)
  } finally {
    await connection.close()
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
