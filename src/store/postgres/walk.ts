// Walks through all plants as they are at one moment.

import { int64Max, int64Min, type NewPlant } from '../../domain/plant.ts'
import { toPlant } from '../rows.ts'
import type { Connection, Row } from './connections/connection.ts'
import { pageQueries } from './pages.ts'

/** Plants in the order of their ids, of one tag or all, as they are at one moment. Closes the connection at the end. */
export async function* exportBatches(
  connection: Connection,
  batchPlants: number,
  tag?: string,
): AsyncGenerator<readonly NewPlant[]> {
  const [text, values] = tag === undefined ? [pageQueries.rowsById, []] : [pageQueries.rowsByTag, [tag]]
  try {
    for await (const rows of walk(connection, batchPlants, text, values)) yield rows.map(toPlant)
  } finally {
    await connection.close()
  }
}

/**
 * Goes through plants in the order of their ids, as they are at one moment, and leaves the transaction of that moment
 * open.
 *
 * @param text a query of rows that begin with their id; its last parameters are the id to begin with and the number of
 * rows.
 */
export async function* walk(
  connection: Connection,
  batchPlants: number,
  text: string,
  values: readonly unknown[] = [],
): AsyncGenerator<readonly Row[]> {
  await connection.command('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  const read = (from: bigint): Promise<readonly Row[]> =>
    connection.query({ name: 'walk', text }, [...values, from, batchPlants])
  for (let batch = await read(int64Min); batch.length > 0; ) {
    const last = batch.at(-1)?.[0] as bigint
    // While one batch is used, the next is read.
    const next = batch.length < batchPlants || last === int64Max ? Promise.resolve([]) : read(last + 1n)
    // Its failure is met when it is its turn.
    next.catch(() => {})
    yield batch
    batch = await next
  }
}
