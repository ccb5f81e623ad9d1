// From the text after --store to an open Store, or to what is done with a store as a whole.

import type { Store } from '../domain/store.ts'
import { backupSqlite, checkSqlite, type FileFacts, restoreSqlite } from './sqlite/backup.ts'
import { openSqliteStore, type StoreOptions } from './sqlite/store.ts'

interface BusyLimits {
  readonly storeBusyMsMax: number
}

/**
 * Opens the store at a place, making it when it is missing.
 *
 * @param place path of an SQLite file.
 * @throws OperatorError with one line that says what stands in the way.
 */
export function openStore(place: string, options: StoreOptions): Promise<Store> {
  return openSqliteStore(place, options)
}

/** Writes the store at a place to a file, beside a running server. */
export function backupStore(place: string, file: string, { storeBusyMsMax }: BusyLimits): Promise<FileFacts> {
  return backupSqlite(place, file, storeBusyMsMax)
}

/** Puts a backup in the place of a store that nobody uses; `force` lets it replace one that is there. */
export function restoreStore(
  file: string,
  place: string,
  force: boolean,
  { storeBusyMsMax }: BusyLimits,
): Promise<FileFacts> {
  return restoreSqlite(file, place, force, storeBusyMsMax)
}

/** Gives what is wrong with the store at a place. */
export function checkStore(place: string, { storeBusyMsMax }: BusyLimits): ReturnType<typeof checkSqlite> {
  return checkSqlite(place, storeBusyMsMax)
}
