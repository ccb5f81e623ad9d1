// Selects the engine for the value of --store by its beginning. Imports an engine only when it is used.

import type { Store } from '../domain/store.ts'
import type { Engine, StoreOptions } from './engine.ts'

interface Entry {
  readonly places: RegExp
  readonly load: () => Promise<Engine>
}

/** The first match counts. Any text that is not the URL of a database is the path of a file. */
const engines: readonly Entry[] = [
  { places: /^postgres(?:ql)?:\/\//i, load: async () => (await import('./postgres/engine.ts')).postgresEngine },
  { places: /^/, load: async () => (await import('./sqlite/engine.ts')).sqliteEngine },
]

/** The engine of a place. */
export function engineOf(place: string): Promise<Engine> {
  const entry = engines.find(({ places }) => places.test(place))
  if (entry === undefined) throw new TypeError(`there is no engine for ${place}`)
  return entry.load()
}

/**
 * Opens the store at a place. With `mayMake`, creates a missing store, but never a missing database.
 *
 * @param place path of an SQLite file, or URL of a PostgreSQL database.
 * @throws MissingStoreError if it is missing and `mayMake` is false; OperatorError, with one line that describes the
 * problem, for any other failure.
 */
export async function openStore(place: string, options: StoreOptions): Promise<Store> {
  return (await engineOf(place)).open(place, options)
}
