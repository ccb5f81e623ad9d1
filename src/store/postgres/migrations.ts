// The tables, as a list of migrations to which steps are only appended. plantstore_schema records the version of the
// tables, and the oldest version of programs that can use them.

import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf, MissingStoreError, messageOf, OperatorError } from '../../domain/errors.ts'
import type { StoreLimits } from '../engine.ts'
import type { Connection } from './connections/connection.ts'
import { failureOf } from './connections/failures.ts'
import type { DatabaseOptions } from './connections/session-options.ts'

interface Migration {
  readonly statements: readonly string[]
  /** The oldest version whose programs can use these tables. Rolling upgrades need it to be older than this one. */
  readonly oldestVersion: number
}

/**
 * The C collation compares texts by their bytes, so that all engines sort alike. `name_folded` may be too long for an
 * index, so the index has a prefix of it. See registrations.ts for `commit_mark` and `registrations`, and changes.ts for
 * `changes`.
 */
const migrations: readonly Migration[] = [
  {
    oldestVersion: 1,
    statements: [
      `CREATE TABLE plants (
        id int8 PRIMARY KEY,
        name text COLLATE "C" NOT NULL,
        tag text COLLATE "C",
        name_folded text COLLATE "C" NOT NULL,
        commit_mark int8 NOT NULL)`,
      'CREATE INDEX plants_by_name ON plants (left(name_folded, 250))',
      'CREATE INDEX plants_by_tag ON plants (tag, id) WHERE tag IS NOT NULL',
      `CREATE TABLE tokens (
        id text COLLATE "C" PRIMARY KEY,
        hash bytea NOT NULL UNIQUE,
        name text COLLATE "C" NOT NULL,
        scopes text COLLATE "C" NOT NULL,
        created_at_ms int8 NOT NULL,
        expires_at_ms int8,
        revoked_at_ms int8)`,
      `CREATE TABLE idempotency_keys (
        caller_id text COLLATE "C" NOT NULL,
        key text COLLATE "C" NOT NULL,
        fingerprint bytea NOT NULL,
        created_at_ms int8 NOT NULL,
        commit_mark int8 NOT NULL,
        PRIMARY KEY (caller_id, key))`,
      'CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at_ms)',
      `CREATE TABLE registrations (
        id text COLLATE "C" PRIMARY KEY,
        last_commit int8 NOT NULL,
        taken_ids int8[] NOT NULL,
        registered_at_ms int8 NOT NULL)`,
    ],
  },
  {
    // Older programs can ignore these columns.
    oldestVersion: 1,
    statements: ['ALTER TABLE tokens ADD COLUMN replaced_by text COLLATE "C", ADD COLUMN last_used_day int8'],
  },
  {
    // An older program would change plants without an entry in the log.
    oldestVersion: 3,
    statements: [
      `CREATE TABLE changes (
        place int8 GENERATED ALWAYS AS IDENTITY (CACHE 1) PRIMARY KEY,
        first int8 UNIQUE,
        changes int8 NOT NULL,
        at_ms int8 NOT NULL,
        lines text COLLATE "C" NOT NULL)`,
      'CREATE INDEX changes_without_number ON changes (place) WHERE first IS NULL',
      'CREATE TABLE changes_end (one int8 PRIMARY KEY, next int8 NOT NULL)',
      'INSERT INTO changes_end VALUES (1, 2)',
      // The beginning of the log. Its time distinguishes the log from those of other stores.
      `INSERT INTO changes (first, changes, at_ms, lines)
        VALUES (1, 1, (extract(epoch FROM clock_timestamp()) * 1000)::int8, '')`,
    ],
  },
  {
    // An older program would delete changes that were not sent yet.
    oldestVersion: 4,
    statements: [
      // The content is the webhook as JSON, without its id.
      `CREATE TABLE webhooks (
        place int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id text COLLATE "C" NOT NULL UNIQUE,
        version int8 NOT NULL,
        content text COLLATE "C" NOT NULL)`,
    ],
  },
]

const newestVersion = migrations.length

const lockSchema = {
  name: 'lockSchema',
  text: 'SELECT version, oldest_version FROM plantstore_schema WHERE one = 1 FOR SHARE',
}
const readSchema = {
  name: 'readSchema',
  text: 'SELECT version, oldest_version FROM plantstore_schema WHERE one = 1',
}

/**
 * Migrates the tables to the newest version, in one transaction. Any number of servers may call this concurrently.
 *
 * @throws MissingStoreError if there are no tables and `mayMake` is false; OperatorError if this program cannot use
 * the version of the tables, or if they belong to another program.
 */
export async function migrate(connection: Connection, options: DatabaseOptions): Promise<void> {
  const { mayMake, place, limits, clock } = options
  const [found] = await connection.query({
    name: 'findSchema',
    text: `SELECT to_regclass('plantstore_schema') IS NOT NULL`,
  })
  if (found?.[0] === true && (await checkVersion(connection)) >= newestVersion) return
  if (found?.[0] !== true && !mayMake) {
    throw new MissingStoreError(`there is no store in ${place} yet; a server or an import makes one`)
  }
  const deadlineMs = clock.monotonicMs() + limits.databaseOpenLockMsMax
  for (let attempt = 1; ; attempt += 1) {
    try {
      // Servers that create the same table concurrently may conflict in the system catalog.
      await takeSteps(connection, limits)
      return
    } catch (error) {
      // A failure here means that the connection is lost; report the first error.
      await connection.command('ROLLBACK').catch(() => {})
      // A long read, such as that of pg_dump, blocks ALTER TABLE.
      const isWorthWaiting = failureOf(error) === 'locked' && clock.monotonicMs() < deadlineMs
      const isMet = isMeeting(error) && attempt < limits.databaseMigrationsMax
      if (!isWorthWaiting && !isMet) throw explainExisting(error)
      await sleep(limits.databaseRetryMs * Math.random())
    }
  }
}

/**
 * Returns the version of the tables; `lock` keeps it unchanged until the transaction ends. Throws OperatorError if this
 * program cannot use them.
 */
export async function checkVersion(connection: Connection, lock?: 'locked'): Promise<number> {
  const [row] = await connection.query(lock === undefined ? readSchema : lockSchema)
  const [version, oldestVersion] = (row ?? [0n, 0n]) as unknown as [bigint, bigint]
  if (oldestVersion > BigInt(newestVersion)) {
    throw new OperatorError(
      `the database was changed by a newer plantstore (its tables have version ${version}, this program knows ${newestVersion}); use the newer program`,
    )
  }
  return Number(version)
}

/** The lock on the row of plantstore_schema makes concurrent servers wait. */
async function takeSteps(connection: Connection, limits: StoreLimits): Promise<void> {
  await connection.command('BEGIN ISOLATION LEVEL READ COMMITTED')
  await connection.command(
    'CREATE TABLE IF NOT EXISTS plantstore_schema (one int8 PRIMARY KEY, version int8 NOT NULL, oldest_version int8 NOT NULL)',
  )
  await connection.command('INSERT INTO plantstore_schema VALUES (1, 0, 0) ON CONFLICT DO NOTHING')
  await connection.command('SELECT 1 FROM plantstore_schema WHERE one = 1 FOR UPDATE')
  const version = await checkVersion(connection)
  // While an ALTER TABLE waits for its lock, reads of other servers queue behind it.
  await connection.command(`SET LOCAL lock_timeout = ${limits.databaseMigrationLockMs}`)
  for (const { statements, oldestVersion } of migrations.slice(version)) {
    for (const statement of statements) await connection.command(statement)
    // Without a row, an older server cannot commit. It tries to register again, and is rejected.
    if (oldestVersion > version && version > 0) await connection.command('DELETE FROM registrations')
    await connection.command(`UPDATE plantstore_schema SET oldest_version = ${oldestVersion} WHERE one = 1`)
  }
  if (version < newestVersion) {
    await connection.command(`UPDATE plantstore_schema SET version = ${newestVersion} WHERE one = 1`)
  }
  await connection.command('COMMIT')
}

/**
 * Whether a concurrent migration may have interfered. A table's type may be visible before the table
 * (`duplicate_object`), and a table may appear between the check of IF NOT EXISTS and its creation (`duplicate_table`).
 */
function isMeeting(error: unknown): boolean {
  return failureOf(error) === 'retry' || ['42710', '42P07'].includes(String(codeOf(error)))
}

function explainExisting(error: unknown): unknown {
  if (codeOf(error) !== '42P07') return error
  return new OperatorError(
    `the database has a table of another program under a name that the store needs (${messageOf(error)}); use another database or schema or, if this is a store, put the row back into plantstore_schema`,
    { cause: error },
  )
}
