// From the text after --store to an open Store.

import type { Store } from '../domain/store.ts'
import type { StoreOptions } from './sqlite/store.ts'
import { openSqliteStore } from './sqlite/store.ts'

/**
 * Opens the store at a place, making it when it is missing.
 *
 * @param place path of an SQLite file.
 * @throws OperatorError with one line that says what stands in the way.
 */
export function openStore(place: string, options: StoreOptions): Promise<Store> {
  return openSqliteStore(place, options)
}
