// Selects the engine for the value of --store by its beginning. Imports an engine only when it is used.

import type { Store } from '../domain/store.ts'
import type { Engine, StoreOptions } from './engine.ts'

/** The engine of a place. Any text that is not the URL of a database is the path of a file. */
export async function engineOf(place: string): Promise<Engine> {
  if (/^postgres(?:ql)?:\/\//i.test(place)) return (await import('./postgres/engine.ts')).postgresEngine
  return (await import('./sqlite/engine.ts')).sqliteEngine
}

/** Opens the store at a place, as `Engine.open` describes. */
export async function openStore(place: string, options: StoreOptions): Promise<Store> {
  return (await engineOf(place)).open(place, options)
}
