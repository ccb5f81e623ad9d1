// The storage engines, so that one definition of a test runs on each of them.

import { after, describe } from 'node:test'
import { makeFolder } from './folder.ts'
import { startDatabase } from './postgres.ts'
import { exhaustive, testOn } from './ring.ts'

export type Engine = ReturnType<typeof engineOf>

export interface Place extends AsyncDisposable {
  /** What a server or command is given as --store. */
  readonly store: string
}

/** What makes an empty place for a store, and tests that each have one. */
const engineOf = (name: string, makePlace: () => Promise<Place>) => ({ name, makePlace, onPlace: testOn(makePlace) })

const sqlite = engineOf('SQLite', async () => {
  const folder = await makeFolder()
  return { store: folder.file('plants.db'), [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() }
})

/**
 * Describes the same tests once for each engine, by its name; those on PostgreSQL in the second ring (ring.ts), as the
 * store suite and the fleets run on it in the first.
 */
export function describeOnEngines(title: string, run: (engine: Engine) => void | Promise<void>): void {
  describe(`${title}, on SQLite`, () => run(sqlite))
  exhaustive.describe(`${title}, on PostgreSQL`, () => runOnPostgres(run))
}

async function runOnPostgres(run: (engine: Engine) => void | Promise<void>): Promise<void> {
  const database = await startDatabase()
  after(() => database[Symbol.asyncDispose]())
  const makePlace = async (): Promise<Place> => ({
    store: await database.makePlace(),
    // A schema is gone with its database.
    [Symbol.asyncDispose]: async () => {},
  })
  await run(engineOf(database.name, makePlace))
}

/** Gives all of them, or closes those that were opened and throws: what is left open would keep the test run. */
export async function openAll<T extends AsyncDisposable>(opening: readonly Promise<T>[]): Promise<readonly T[]> {
  const results = await Promise.allSettled(opening)
  const opened = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed === undefined) return opened
  await Promise.all(opened.map((each) => each[Symbol.asyncDispose]()))
  throw failed.reason
}
