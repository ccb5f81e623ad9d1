// The tables, as a list of migrations; steps are only appended. user_version counts the steps of a file.

import { DatabaseSync } from 'node:sqlite'
import { OperatorError, SettingError } from '../../../domain/errors.ts'

/** `PLNT`, in the header of every store, distinguishes it from SQLite files of other programs. */
const applicationId = 0x504c4e54

export const migrations: readonly string[] = [
  `
  -- plant is the JSON that the API answers.
  CREATE TABLE plants (id INTEGER PRIMARY KEY, plant TEXT NOT NULL) STRICT;
  CREATE INDEX plants_by_tag ON plants (plant ->> '$.tag') WHERE plant ->> '$.tag' IS NOT NULL;

  -- The index of names, which SQLite cannot fold: a row for each plant, with the beginning of its folded name.
  CREATE TABLE names (head TEXT NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (head, id)) STRICT, WITHOUT ROWID;

  -- Updated with every change, because counting takes time proportional to the number of plants. The empty text has the
  -- count of all plants, # and a tag that of the tag. One table, so that most changes write only one more page.
  CREATE TABLE plant_counts (of TEXT PRIMARY KEY, plants INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  -- Tokens and webhooks. content is the record as JSON, without its id and, of a token, its hash.
  CREATE TABLE records (
    place INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    content TEXT NOT NULL,
    hash BLOB UNIQUE,
    UNIQUE (kind, id)
  ) STRICT;

  CREATE TABLE idempotency_keys (
    caller_id TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (caller_id, key)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at_ms);

  -- Distinguishes the backups of this store from those of others of the same name.
  CREATE TABLE store_id (one INTEGER PRIMARY KEY CHECK (one = 1), id BLOB NOT NULL) STRICT;
  INSERT INTO store_id VALUES (1, randomblob(16));

  -- The log of changes; see change-log.ts. A row has the changes of one transaction: one insertion, however many they
  -- are. end_bytes counts the lines of all rows so far, with those that were swept.
  CREATE TABLE changes (
    first INTEGER PRIMARY KEY,
    changes INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    end_bytes INTEGER NOT NULL,
    lines TEXT NOT NULL
  ) STRICT;
  -- The beginning of the log. Its time distinguishes the log from those of other stores.
  INSERT INTO changes VALUES (1, 1, CAST(unixepoch('subsec') * 1000 AS INTEGER), 0, '');
  `,
]

/**
 * Migrates the tables to the newest version, in one transaction. Several processes may call this concurrently.
 *
 * @param steps those of this program, or others for a test of the mechanism.
 */
export function migrate(database: DatabaseSync, path: string, steps = migrations): void {
  if (tableVersion(database, path, steps.length) === steps.length) return
  database.exec('BEGIN IMMEDIATE')
  try {
    for (const step of steps.slice(tableVersion(database, path, steps.length))) database.exec(step)
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${steps.length}; COMMIT`)
  } catch (cause) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw cause
  }
}

/**
 * The version of a store's tables; 0 for a new file.
 *
 * @throws OperatorError if the file belongs to another program, or to a newer version of this one.
 */
export function tableVersion(database: DatabaseSync, path: string, newestVersion = migrations.length): number {
  const version = Number(readValue(database, 'PRAGMA user_version'))
  const isNew = version === 0 && readValue(database, 'SELECT count(*) FROM sqlite_schema') === 0
  if (!isNew && readValue(database, 'PRAGMA application_id') !== applicationId) {
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

/** Tables and indexes come before their columns. */
const schema = `SELECT type || ' ' || name AS name FROM sqlite_schema
  UNION ALL SELECT 'column ' || s.name || '.' || c.name FROM sqlite_schema s, pragma_table_info(s.name) c
    WHERE s.type = 'table'`

function namesIn(database: DatabaseSync): Set<string> {
  const rows = database.prepare(schema).all()
  return new Set(rows.map(({ name }) => String(name)))
}

/** The unique id of a store and its backups; undefined if the file is no store. */
export function readStoreId(database: DatabaseSync): string | undefined {
  if (readValue(database, 'PRAGMA application_id') !== applicationId) return undefined
  const id = readValue(database, 'SELECT hex(id) FROM store_id')
  return id === undefined ? undefined : String(id)
}

export function readValue(database: DatabaseSync, sql: string): unknown {
  return Object.values(database.prepare(sql).get() ?? {})[0]
}
