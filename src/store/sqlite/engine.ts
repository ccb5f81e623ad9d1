// The engine for SQLite files.

import type { Engine } from '../engine.ts'
import { statThere, toAbsolute } from '../paths.ts'
import { filesOfStore } from './file/names.ts'

export const sqliteEngine: Engine = {
  describe: toAbsolute,
  mayBeThere,
  filesOf: filesOfStore,
  open: async (place, options) => (await import('./opening.ts')).openSqliteStore(place, options),
  backup: async (place, target, options) => (await import('./backup/backup.ts')).backupSqlite(place, target, options),
  restore: async (file, place, force, { storeBusyMsMax }) =>
    (await import('./backup/backup.ts')).restoreSqlite(file, place, force, storeBusyMsMax),
  check: async (place, options) => (await import('./backup/backup.ts')).checkSqlite(place, options),
  settingsOf: () => [],
}

/** Without permission to look, a file may exist. */
function mayBeThere(place: string): boolean {
  try {
    return statThere(place) !== undefined
  } catch {
    return true
  }
}
