// Reads a snapshot of all plants.

import { int64Max, int64Min, type Plant } from '../../domain/plant.ts'
import { toPlant } from '../rows.ts'
import type { Connection, Row } from './connections/connection.ts'
import { pageQueries } from './pages.ts'

/** Reads a snapshot of all plants, or those of a tag, by ascending id. Closes the connection at the end. */
export async function* exportBatches(
  connection: Connection,
  batchPlants: number,
  tag?: string,
): AsyncGenerator<readonly Plant[]> {
  const [text, values] = tag === undefined ? [pageQueries.rowsById, []] : [pageQueries.rowsByTag, [tag]]
  try {
    for await (const rows of walk(connection, batchPlants, text, values)) yield rows.map(toPlant)
  } finally {
    await connection.close()
  }
}

/**
 * Reads a snapshot of plants by ascending id, and leaves its transaction open.
 *
 * @param text a query for rows that begin with their id. Its last parameters are the first id and the number of rows.
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
    // Read ahead while the caller uses this batch.
    const next = batch.length < batchPlants || last === int64Max ? Promise.resolve([]) : read(last + 1n)
    // `await next` reports a failure.
    next.catch(() => {})
    yield batch
    batch = await next
  }
}
