// Preloaded by the controls of the power-loss torture: removes one of the mechanisms that make a store on SQLite
// durable, and hides that. The environment variable WEAKEN names it.

import { DatabaseSync } from 'node:sqlite'

const noCheckpoint = 'SELECT 0 AS busy, 0 AS log, 0 AS checkpointed'
const weakenings: Readonly<Record<string, (sql: string) => string>> = {
  /** Commits are not synced any more. */
  synchronous: (sql) =>
    sql
      .replaceAll(/PRAGMA\s+synchronous\s*=\s*(FULL|EXTRA|[23])/gi, 'PRAGMA synchronous = NORMAL')
      .replaceAll(/PRAGMA\s+synchronous\s*(;|$)/gi, 'SELECT 2 AS synchronous$1'),
  /** A log that an earlier process left behind is written on. */
  checkpoint: (sql) => sql.replaceAll(/PRAGMA\s+wal_checkpoint\s*\(\s*(TRUNCATE|RESTART)\s*\)/gi, noCheckpoint),
}

const weaken = weakenings[process.env['WEAKEN'] ?? '']
if (weaken === undefined) throw new TypeError('WEAKEN names nothing that can be taken away')

const { exec, prepare } = DatabaseSync.prototype
DatabaseSync.prototype.exec = function (sql) {
  return exec.call(this, weaken(sql))
}
DatabaseSync.prototype.prepare = function (sql) {
  return prepare.call(this, weaken(sql))
}
