// Detects damage in constant time: a truncated file, the log of another store, a missing table or index.

import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { OperatorError } from '../../../domain/errors.ts'
import { isLogWithFrames, readHeader } from './header.ts'
import { migrate, migrations, tableVersion } from './migrations.ts'

/**
 * Detects a truncated file, or the log of another store beside it, from the headers. Does not use SQLite, which might
 * change the file. Returns undefined if there is no damage, or if the file is missing or empty.
 */
export function findPlainDamage(path: string): string | undefined {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) return undefined
  const header = readHeader(path)
  // SQLite would treat a truncated header as a new database.
  if (header === undefined) return `it was cut short to ${size} bytes`
  const log = `${path}-wal`
  if (isLogWithFrames(log)) {
    // The log may contain the missing pages: an interrupted checkpoint may have written the header first.
    return header.hasLog ? undefined : `${log} beside it belongs to another store; move it away`
  }
  return size < header.bytesMin ? `it was cut short to ${size} of ${header.bytesMin} bytes` : undefined
}

/**
 * Detects a missing table, index or column. SQLite itself would not notice a missing index.
 *
 * @param path the path in messages.
 */
export function findSchemaDamage(database: DatabaseSync, path: string): string | undefined {
  using model = new DatabaseSync(':memory:')
  migrate(model, ':memory:', migrations.slice(0, tableVersion(database, path)))
  const there = namesIn(database)
  const damage = [...namesIn(model)].find((name) => !there.has(name))
  return damage === undefined ? undefined : `its ${damage} is missing`
}

export function assertSound(path: string, damage: string | undefined): void {
  if (damage !== undefined) throw new OperatorError(`${path} is damaged: ${damage}; restore a backup`)
}

/** Tables and indexes come before their columns. */
const schema = `SELECT type || ' ' || name AS name FROM sqlite_schema
  UNION ALL SELECT 'column ' || s.name || '.' || c.name FROM sqlite_schema s, pragma_table_info(s.name) c
    WHERE s.type = 'table'`

function namesIn(database: DatabaseSync): Set<string> {
  const rows = database.prepare(schema).all()
  return new Set(rows.map(({ name }) => String(name)))
}
