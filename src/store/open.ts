// From the text after --store to its engine: a table by the beginning of the text. An engine's files are imported only
// when a place of its own is asked for.

import type { Store } from '../domain/store.ts'
import type { Engine, StoreOptions } from './engine.ts'

interface Entry {
  readonly places: RegExp
  readonly load: () => Promise<Engine>
}

/** The first one that fits; every text that is no URL of a database is the path of a file. */
const engines: readonly Entry[] = [
  { places: /^postgres(?:ql)?:\/\//i, load: async () => (await import('./postgres/engine.ts')).postgresEngine },
  { places: /^/, load: async () => (await import('./sqlite/engine.ts')).sqliteEngine },
]

/** The engine that keeps the store at a place. */
export function engineOf(place: string): Promise<Engine> {
  const entry = engines.find(({ places }) => places.test(place))
  if (entry === undefined) throw new TypeError(`there is no engine for ${place}`)
  return entry.load()
}

/**
 * Opens the store at a place, making it when it is missing and `mayMake` says so; a database has to be there.
 *
 * @param place path of an SQLite file, or the URL of a PostgreSQL database.
 * @throws MissingStoreError when it is missing and may not be made, else OperatorError with one line that says what
 * stands in the way.
 */
export async function openStore(place: string, options: StoreOptions): Promise<Store> {
  return (await engineOf(place)).open(place, options)
}
