// Looks through a whole store in PostgreSQL for what only this program can judge; the files of the database are for pg_amcheck.

import { foldName, int64Max, int64Min } from '../../domain/plant.ts'
import type { Judgement } from '../open.ts'
import type { StoreOptions } from '../options.ts'
import { describeUrl } from './address.ts'
import type { Connection, Row } from './connection.ts'
import { explainConnectFailure } from './failures.ts'
import { migrate } from './migrations.ts'
import { openForBulk } from './store.ts'

const lotPlants = 2_000
const problemsShown = 20

/** @throws OperatorError when the database cannot be reached or has no store. */
export async function checkPostgres(url: string, options: StoreOptions): Promise<Judgement> {
  const connection = await openForBulk(url, options)
  try {
    await migrate(connection, false)
    await connection.command('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const problems: string[] = []
    let plants = 0
    for (let from: bigint | undefined = int64Min; from !== undefined; ) {
      const rows = await read(connection, from)
      plants += rows.length
      for (const [id, name, folded] of rows) {
        if (folded !== foldName(String(name))) problems.push(`plant ${id} cannot be found by its name`)
      }
      const last = rows.at(-1)?.[0] as bigint | undefined
      from = last === undefined || last === int64Max ? undefined : last + 1n
    }
    problems.push(...(await compareCounts(connection, plants)))
    return { problems: problems.slice(0, problemsShown), plants }
  } catch (cause) {
    throw explainConnectFailure(cause, describeUrl(url))
  } finally {
    await connection.close()
  }
}

function read(connection: Connection, from: bigint): Promise<readonly Row[]> {
  return connection.query(
    {
      name: 'checkPlants',
      text: 'SELECT id, name, name_folded FROM plants WHERE id >= $1 ORDER BY id LIMIT $2',
    },
    [from, lotPlants],
  )
}

/** The table, gone through as it lies, has as many plants as its primary key led to. */
async function compareCounts(connection: Connection, plants: number): Promise<string[]> {
  await connection.command('SET LOCAL enable_indexscan = off')
  await connection.command('SET LOCAL enable_indexonlyscan = off')
  await connection.command('SET LOCAL enable_bitmapscan = off')
  const [row] = await connection.query({ name: 'countPlants', text: 'SELECT count(*) FROM plants' })
  const there = Number(row?.[0])
  return there === plants ? [] : [`the table has ${there} plants, its primary key leads to ${plants}`]
}
