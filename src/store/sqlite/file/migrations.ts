// The tables, and every step that ever led to them. Steps are only ever added: a file tells by user_version which it
// has had.

import type { DatabaseSync } from 'node:sqlite'
import { OperatorError, SettingError } from '../../../domain/errors.ts'

/** `PLNT`, in the header of every store, so that another program's SQLite file is never taken for one. */
const applicationId = 0x504c4e54

const migrations: readonly string[] = [
  `
  -- The name comes last: what looks through plants by the other columns does not have to step over it.
  CREATE TABLE plants (
    id INTEGER PRIMARY KEY,
    tag TEXT,
    name_head TEXT NOT NULL,
    name TEXT NOT NULL
  ) STRICT;

  CREATE INDEX plants_by_name ON plants (name_head);
  CREATE INDEX plants_by_tag ON plants (tag) WHERE tag IS NOT NULL;

  -- Kept with every change, as to count would take as long as there are plants: of all plants under the empty text, of
  -- a tag under # and the tag. One table, so that most changes write one page more.
  CREATE TABLE plant_counts (of TEXT PRIMARY KEY, plants INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER,
    revoked_at_ms INTEGER
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE idempotency_keys (
    caller_id TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (caller_id, key)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at_ms);
  `,
  `
  ALTER TABLE tokens ADD COLUMN replaced_by TEXT;
  -- Whole days since 1970: a use is noted once a day.
  ALTER TABLE tokens ADD COLUMN last_used_day INTEGER;

  -- Tells the backups of this store from those of others of the same name.
  CREATE TABLE store_id (one INTEGER PRIMARY KEY CHECK (one = 1), id BLOB NOT NULL) STRICT;
  INSERT INTO store_id VALUES (1, randomblob(16));
  `,
]

const newestVersion = migrations.length

/**
 * Whether the tables of a file are at the newest version.
 *
 * @throws OperatorError when the file is another program's, or was written by a newer version of this one.
 */
export function isUpToDate(database: DatabaseSync, path: string): boolean {
  return tableVersion(database, path) === newestVersion
}

/**
 * Brings the tables to the newest version, in one transaction; several processes may try at once.
 *
 * @param wanted another version, for a model of what older programs made.
 */
export function migrate(database: DatabaseSync, path: string, wanted = newestVersion): void {
  if (isUpToDate(database, path)) return
  database.exec('BEGIN IMMEDIATE')
  try {
    for (const step of migrations.slice(tableVersion(database, path), wanted)) database.exec(step)
    database.exec(`PRAGMA application_id = ${applicationId}`)
    database.exec(`PRAGMA user_version = ${wanted}`)
    database.exec('COMMIT')
  } catch (cause) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw cause
  }
}

/** The version of a store's tables; 0 for a new file. Throws as `isUpToDate` does. */
export function tableVersion(database: DatabaseSync, path: string): number {
  const version = readInteger(database, 'PRAGMA user_version')
  const isNew = version === 0 && readInteger(database, 'SELECT count(*) FROM sqlite_schema') === 0
  if (!isNew && readInteger(database, 'PRAGMA application_id') !== applicationId) {
    throw new SettingError(`${path} is an SQLite database of another program, not a plant store; name another file`)
  }
  if (!isNew && version < 1) throw new OperatorError(`${path} is damaged: its tables have no version; restore a backup`)
  if (version > newestVersion) {
    throw new OperatorError(
      `${path} was written by a newer plantstore (its tables have version ${version}; this program knows versions up to ${newestVersion}); use the newer program`,
    )
  }
  return version
}

/** What tells a store, and the backups of it, from all others; undefined for one of the first version. */
export function readStoreId(database: DatabaseSync): string | undefined {
  const version = readInteger(database, 'PRAGMA user_version')
  if (readInteger(database, 'PRAGMA application_id') !== applicationId || version < 2) return undefined
  const id = database.prepare('SELECT hex(id) AS id FROM store_id').get()?.['id']
  return id === undefined ? undefined : String(id)
}

function readInteger(database: DatabaseSync, sql: string): number {
  return Number(Object.values(database.prepare(sql).get() ?? {})[0])
}
