// The engine for SQLite files.

import { DatabaseSync } from 'node:sqlite'
import type { Engine } from '../engine.ts'
import { statThere, toAbsolute } from '../paths.ts'
import { filesOfStore } from './file/names.ts'

export const sqliteEngine: Engine = {
  describe: toAbsolute,
  mayBeThere: (place) => {
    try {
      return statThere(place) !== undefined
    } catch {
      // Without permission to look, a file may exist.
      return true
    }
  },
  filesOf: filesOfStore,
  open: async (place, options) => (await import('./opening.ts')).openSqliteStore(place, options),
  backup: async (place, target, options) => (await import('./backup.ts')).backupSqlite(place, target, options),
  restore: async (file, place, force, { storeBusyMsMax }) =>
    (await import('./backup.ts')).restoreSqlite(file, place, force, storeBusyMsMax),
  check: async (place, options) => (await import('./backup.ts')).checkSqlite(place, options),
  settingsOf: () => [],
}

/**
 * Empties a store while its server runs, to reset tests: deletes all plants and idempotency keys, but not tokens, in one
 * transaction, and begins another log of changes.
 */
export function emptyStore(path: string, busyMsMax: number): void {
  const database = new DatabaseSync(path, { timeout: busyMsMax })
  try {
    database.exec('BEGIN IMMEDIATE')
    for (const table of ['plants', 'names', 'plant_counts', 'idempotency_keys']) database.exec(`DELETE FROM ${table}`)
    database.exec(`INSERT INTO changes SELECT first + changes, 1, CAST(unixepoch('subsec') * 1000 AS INTEGER), end_bytes, ''
      FROM changes ORDER BY first DESC LIMIT 1`)
    database.exec('DELETE FROM changes WHERE first < (SELECT max(first) FROM changes)')
    database.exec('COMMIT')
  } finally {
    // The server has the store open, so this connection is not the last to close, and the log stays.
    database.close()
  }
}
