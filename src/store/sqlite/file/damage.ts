// Damage of a store that shows at a glance, however large it is: a file cut short, another store's log, a lost index.

import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { OperatorError } from '../../../domain/errors.ts'
import { isLogWithFrames, readHeader } from './header.ts'
import { migrate, tableVersion } from './migrations.ts'

/**
 * What the header of a database tells without SQLite, which might change the file: a part of it is missing, or the log
 * beside it is another's. Undefined when nothing is wrong with it, and for a file that is missing or empty.
 */
export function findPlainDamage(path: string): string | undefined {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) return undefined
  const header = readHeader(path)
  // SQLite takes what is left of its header for a new database.
  if (header === undefined) return `it was cut short to ${size} bytes`
  const log = `${path}-wal`
  if (isLogWithFrames(log)) {
    // What the file lacks may be in its log: a checkpoint that was interrupted had written the header first.
    return header.hasLog ? undefined : `${log} beside it belongs to another store; move it away`
  }
  return size < header.bytesMin ? `it was cut short to ${size} of ${header.bytesMin} bytes` : undefined
}

/**
 * Which table or index of its version a store lacks, if any. SQLite would not miss an index.
 *
 * @param path what a failure names.
 * @throws OperatorError when its tables are those of a plantstore before 1.0.0, which had the same version numbers.
 */
export function findSchemaDamage(database: DatabaseSync, path: string): string | undefined {
  using model = new DatabaseSync(':memory:')
  migrate(model, ':memory:', tableVersion(database, path))
  const tables = namesIn(database, tablesAndIndexes)
  const damage = [...namesIn(model, tablesAndIndexes)].find((name) => !tables.has(name))
  const there = namesIn(database, columns)
  // Those of a table that is missing are not looked for.
  const missing = [...namesIn(model, columns)].find(
    (name) => !there.has(name) && tables.has(`table ${name.split('.')[0]}`),
  )
  if (missing !== undefined) {
    throw new OperatorError(
      `${path} was written by a plantstore before 1.0.0 (it has no column ${missing}) and cannot be used; export its plants with that plantstore, and import them into a new store`,
    )
  }
  return damage === undefined ? undefined : `its ${damage} is missing`
}

export function assertSound(path: string, damage: string | undefined): void {
  if (damage !== undefined) throw new OperatorError(`${path} is damaged: ${damage}; restore a backup`)
}

const tablesAndIndexes = "SELECT type || ' ' || name AS name FROM sqlite_schema"
const columns = `SELECT s.name || '.' || c.name AS name FROM sqlite_schema s, pragma_table_info(s.name) c
  WHERE s.type = 'table'`

function namesIn(database: DatabaseSync, sql: string): Set<string> {
  const rows = database.prepare(sql).all()
  return new Set(rows.map(({ name }) => String(name)))
}
