// The engine of stores in SQLite files.

import { resolve } from 'node:path'
import type { Engine } from '../engine.ts'
import { statThere } from '../paths.ts'

export const sqliteEngine: Engine = {
  describe: (place) => resolve(place),
  mayBeThere,
  open: async (place, options) => (await import('./opening.ts')).openSqliteStore(place, options),
  backup: async (place, target, options) => (await import('./backup.ts')).backupSqlite(place, target, options),
  restore: async (file, place, force, { storeBusyMsMax }) =>
    (await import('./backup.ts')).restoreSqlite(file, place, force, storeBusyMsMax),
  check: async (place, { limits }) => (await import('./backup.ts')).checkSqlite(place, limits.storeBusyMsMax),
  settingsOf: () => [],
}

/** A file that this user may not look for may be there. */
function mayBeThere(place: string): boolean {
  try {
    return statThere(place) !== undefined
  } catch {
    return true
  }
}
