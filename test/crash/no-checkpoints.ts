// Preloaded into a server: disables checkpoints while it runs, so that the log and its index grow.

import { DatabaseSync } from 'node:sqlite'

const exec = DatabaseSync.prototype.exec

DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string): void {
  if (sql !== 'PRAGMA wal_checkpoint(PASSIVE)') exec.call(this, sql)
}
