// The lock that a server holds on its store. The operating system lets go of it when the process dies, however it dies,
// so nothing stale is left. It is an SQLite file beside the store, held exclusively and always empty.

import { DatabaseSync } from 'node:sqlite'
import { makeFile, resultCode, sqliteResultCode } from './database.ts'

export interface Lock {
  release(): void
}

/**
 * Takes the lock of a store, or gives undefined when another process holds it.
 *
 * @param path the store's file, by its real path, so that two names of one file have one lock.
 * @param waitMsMax how long to wait for the other process.
 */
export function takeLock(path: string, waitMsMax: number): Lock | undefined {
  makeFile(`${path}.lock`)
  const file = new DatabaseSync(`${path}.lock`, { timeout: waitMsMax })
  try {
    file.exec('BEGIN EXCLUSIVE')
    return { release: () => file.close() }
  } catch (cause) {
    file.close()
    if (sqliteResultCode(cause) === resultCode.busy) return undefined
    throw cause
  }
}
