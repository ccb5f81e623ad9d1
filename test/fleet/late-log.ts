// Preloaded as a control: writes the log of changes shortly after their transaction, not in it.

import { DatabaseSync, type StatementSync } from 'node:sqlite'

const lateMs = 30
const { prepare } = DatabaseSync.prototype

DatabaseSync.prototype.prepare = function (sql: string): StatementSync {
  const statement = prepare.call(this, sql)
  if (!sql.startsWith('INSERT INTO changes')) return statement
  const run = statement.run.bind(statement)
  statement.run = (...values: never[]) => {
    setTimeout(() => run(...values), lateMs)
    return { changes: 1n, lastInsertRowid: 0n }
  }
  return statement
}
