// The tables, as a list of migrations to which steps are only appended. plantstore_schema records the version of the
// tables, and the oldest version of programs that can use them.

import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf, MissingStoreError, messageOf, OperatorError } from '../../domain/errors.ts'
import type { StoreLimits } from '../engine.ts'
import type { Connection } from './connections/connection.ts'
import { failureOf } from './connections/failures.ts'
import type { DatabaseOptions } from './connections/session-options.ts'
import { createTable, tables } from './connections/tables.ts'

export interface Migration {
  readonly statements: readonly string[]
  /** The oldest version whose programs can use these tables. Rolling upgrades need it to be older than this one. */
  readonly oldestVersion: number
}

const { plantstore_schema, ...others } = tables
export const migrations: readonly Migration[] = [
  { oldestVersion: 1, statements: Object.keys(others).flatMap(createTable) },
]

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
 * @param steps those of this program, or more for a test of the mechanism.
 * @throws MissingStoreError if there are no tables and `mayMake` is false; OperatorError if this program cannot use
 * the version of the tables, or if they belong to another program.
 */
export async function migrate(connection: Connection, options: DatabaseOptions, steps = migrations): Promise<void> {
  const { mayMake, place, limits, clock } = options
  const [found] = await connection.query({
    name: 'findSchema',
    text: `SELECT to_regclass('plantstore_schema') IS NOT NULL`,
  })
  if (found?.[0] === true && (await checkVersion(connection, steps.length)) >= steps.length) return
  if (found?.[0] !== true && !mayMake) {
    throw new MissingStoreError(`there is no store in ${place} yet; a server or an import makes one`)
  }
  const deadlineMs = clock.monotonicMs() + limits.databaseOpenLockMsMax
  for (let attempt = 1; ; attempt += 1) {
    try {
      // Servers that create the same table concurrently may conflict in the system catalog.
      await takeSteps(connection, limits, steps)
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
export async function checkVersion(
  connection: Connection,
  newestVersion = migrations.length,
  lock?: 'locked',
): Promise<number> {
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
async function takeSteps(connection: Connection, limits: StoreLimits, steps: readonly Migration[]): Promise<void> {
  await connection.command('BEGIN ISOLATION LEVEL READ COMMITTED')
  for (const statement of createTable('plantstore_schema')) {
    await connection.command(statement.replace('TABLE', 'TABLE IF NOT EXISTS'))
  }
  await connection.command('INSERT INTO plantstore_schema VALUES (1, 0, 0) ON CONFLICT DO NOTHING')
  await connection.command('SELECT 1 FROM plantstore_schema WHERE one = 1 FOR UPDATE')
  const version = await checkVersion(connection, steps.length)
  // While an ALTER TABLE waits for its lock, reads of other servers queue behind it.
  await connection.command(`SET LOCAL lock_timeout = ${limits.databaseMigrationLockMs}`)
  for (const { statements, oldestVersion } of steps.slice(version)) {
    for (const statement of statements) await connection.command(statement)
    // Without a row, an older server cannot commit. It tries to register again, and is rejected.
    if (oldestVersion > version && version > 0) await connection.command('DELETE FROM registrations')
    await connection.command(`UPDATE plantstore_schema SET oldest_version = ${oldestVersion} WHERE one = 1`)
  }
  await connection.command(`UPDATE plantstore_schema SET version = ${Math.max(version, steps.length)} WHERE one = 1`)
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
