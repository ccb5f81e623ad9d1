// The engine of stores in SQLite files.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Engine } from '../engine.ts'

export const sqliteEngine: Engine = {
  describe: (place) => resolve(place),
  mayBeThere: (place) => existsSync(place),
  open: async (place, options) => (await import('./opening.ts')).openSqliteStore(place, options),
  backup: async (place, file, { storeBusyMsMax }) =>
    (await import('./backup.ts')).backupSqlite(place, file, storeBusyMsMax),
  restore: async (file, place, force, { storeBusyMsMax }) =>
    (await import('./backup.ts')).restoreSqlite(file, place, force, storeBusyMsMax),
  check: async (place, { limits }) => (await import('./backup.ts')).checkSqlite(place, limits.storeBusyMsMax),
  settingsOf: () => [],
}
