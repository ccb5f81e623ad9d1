// Plants in bulk: exports from one snapshot, and imports that are kept as a whole or not at all. Each has a connection of its
// own, whose transaction may take as long as it takes.

import { AppError } from '../../domain/errors.ts'
import { int64Max, int64Min, type NewPlant } from '../../domain/plant.ts'
import type { OnConflict, PlantImport } from '../../domain/store.ts'
import { toPlant } from '../rows.ts'
import { onFirstHost } from './address.ts'
import { Connection, type Row } from './connection.ts'
import { Ledger } from './ledger.ts'
import { pageQueries } from './pages.ts'
import type { DatabaseOptions } from './sessions.ts'
import { begin, findPlantsFor, sendEffects } from './transaction.ts'

const lotPlants = 2_000
/** Only of use to those who wait for the answer to a commit. */
const noMark = 0n

/** Opens a connection for work that may take long, each step up to `answerMsMax`, 0 for any. Throws what stands in the way. */
export function openForBulk({ address, limits }: DatabaseOptions, answerMsMax = 0): Promise<Connection> {
  const timeouts = {
    connectMsMax: limits.databaseConnectMsMax,
    statementMsMax: 0,
    answerMsMax,
    lockMsMax: limits.databaseOpenLockMsMax,
    idleTransactionMsMax: 0,
  }
  return onFirstHost(address, (host) => Connection.open(address, host, timeouts))
}

/** Plants in the order of their ids, of one tag or all, as they are at one moment. Closes the connection at the end. */
export async function* exportLots(connection: Connection, tag?: string): AsyncGenerator<readonly NewPlant[]> {
  const lots = tag === undefined ? walk(connection, pageQueries.byId) : walk(connection, pageQueries.byTag, [tag])
  try {
    for await (const rows of lots) yield rows.map(toPlant)
  } finally {
    await connection.close()
  }
}

/**
 * Goes through plants in the order of their ids, as they are at one moment, and leaves the transaction of that moment open.
 *
 * @param text a query of rows that begin with their id; its last parameters are the id to begin with and the number of rows.
 */
export async function* walk(
  connection: Connection,
  text: string,
  values: readonly unknown[] = [],
): AsyncGenerator<readonly Row[]> {
  await connection.command('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  const read = (from: bigint): Promise<readonly Row[]> =>
    connection.query({ name: 'walk', text }, [...values, from, lotPlants])
  for (let lot = await read(int64Min); lot.length > 0; ) {
    const last = lot.at(-1)?.[0] as bigint
    // While one lot is used, the next is read.
    const next = lot.length < lotPlants || last === int64Max ? Promise.resolve([]) : read(last + 1n)
    // Its failure is met when it is its turn.
    next.catch(() => {})
    yield lot
    lot = await next
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
