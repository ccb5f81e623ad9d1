// Plants in bulk: exports from one snapshot, and imports that are kept as a whole or not at all. Each has a connection of its
// own, whose transaction may take as long as it takes.

import { AppError } from '../../domain/errors.ts'
import { int64Max, int64Min, type NewPlant } from '../../domain/plant.ts'
import type { OnConflict, PlantImport } from '../../domain/store.ts'
import type { Connection } from './connection.ts'
import { Ledger } from './ledger.ts'
import { pageQueries } from './pages.ts'
import { begin, findPlantsFor, sendEffects } from './transaction.ts'

const lotPlants = 2_000
/** Only of use to those who wait for the answer to a commit. */
const noMark = 0n

/** Plants in the order of their ids, of one tag or all, as they are at one moment. Closes the connection at the end. */
export async function* exportLots(connection: Connection, tag?: string): AsyncGenerator<readonly NewPlant[]> {
  try {
    await connection.command('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const statement = { name: 'export', text: tag === undefined ? pageQueries.byId : pageQueries.byTag }
    const tags = tag === undefined ? [] : [tag]
    const read = (from: bigint): Promise<readonly NewPlant[]> =>
      connection
        .query(statement, [...tags, from, lotPlants])
        .then((rows) =>
          (rows as readonly [bigint, string, string | null][]).map(([id, name, tag]) =>
            tag === null ? { id, name } : { id, name, tag },
          ),
        )
    for (let lot = await read(int64Min); lot.length > 0; ) {
      const { id } = lot.at(-1) as NewPlant
      // While one lot is used, the next is read.
      const next = lot.length < lotPlants || id === int64Max ? Promise.resolve([]) : read(id + 1n)
      // Its failure is met when it is its turn.
      next.catch(() => {})
      yield lot
      lot = await next
    }
  } finally {
    await connection.close()
  }
}

/** An import in one transaction, which ends with everything or nothing. Closes the connection at the end. */
export function beginWholeImport(connection: Connection, onConflict: OnConflict): PlantImport {
  const explain = (cause: unknown): AppError =>
    new AppError('overloaded', 'the import met another change or lost the database; nothing was kept, try again', {
      cause,
    })
  let isOpen = false
  return {
    isShared: false,
    add: async (plants) => {
      try {
        if (!isOpen) await connection.command(begin)
        isOpen = true
        const ledger = new Ledger(await findPlantsFor(connection, plants))
        const outcomes = plants.map((plant) => ledger.import(plant, onConflict))
        await connection.sendTogether(() => sendEffects(connection, ledger.effects(), noMark, 0))
        return outcomes
      } catch (cause) {
        throw explain(cause)
      }
    },
    commit: async () => {
      if (!isOpen) return
      isOpen = false
      const command = await connection.command('COMMIT').catch((cause: unknown) => {
        throw new AppError('storeUnavailable', 'the database did not say whether the import was kept', { cause })
      })
      if (connection.takeUnconfirmed()) {
        throw new AppError('storeUnavailable', 'no standby confirmed the import: it is on one machine only')
      }
      if (command !== 'COMMIT') throw explain(new Error(`the transaction ended with ${command}`))
    },
    end: () => connection.close(),
  }
}
