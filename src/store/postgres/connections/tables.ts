// The tables, and the list of migrations that makes them; steps are only appended. plantstore_schema records the version
// of the tables, and the oldest version of programs that can use them.

import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf, MissingStoreError, messageOf, OperatorError } from '../../../domain/errors.ts'
import type { Limits } from '../../../limits.ts'
import type { DatabaseOptions } from './address.ts'
import { type Connection, named } from './connection.ts'
import { failureOf } from './failures.ts'

/** The tag of a plant, as its index has it. */
export const tagOfPlant = `((plant ->> 'tag') COLLATE "C")`

/** Milliseconds since 1970, by the clock of the database. */
export const nowMs = '(extract(epoch FROM statement_timestamp()) * 1000)::int8'

/**
 * The columns of each table, one a line. The C collation compares texts by their bytes, so that all engines sort alike.
 * See lost-commits.ts and pages.ts for `changes`.
 */
export const tables: Readonly<Record<string, string>> = {
  // The version of the tables, and the oldest version of programs that can use them.
  plantstore_schema: `
    one int8 PRIMARY KEY,
    version int8 NOT NULL,
    oldest_version int8 NOT NULL`,
  // The plant as the API returns it: json, unlike jsonb, keeps each byte.
  plants: `
    id int8 PRIMARY KEY,
    plant json NOT NULL,
    name_folded text COLLATE "C" NOT NULL`,
  // Tokens and webhooks as JSON, without their ids and, of a token, its hash.
  records: `
    place int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    version int8 NOT NULL,
    content text COLLATE "C" NOT NULL,
    hash bytea UNIQUE,
    UNIQUE (kind, id)`,
  idempotency_keys: `
    caller_id text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    fingerprint bytea NOT NULL,
    created_at_ms int8 NOT NULL,
    PRIMARY KEY (caller_id, key)`,
  // id: the id of the transaction, in one of its rows. changes: 0 if the transaction changed no plant, -1 if it was looked
  // up and can never commit. end_bytes: the bytes of the lines of all numbered rows so far, with those that were swept.
  changes: `
    id uuid PRIMARY KEY,
    place int8 GENERATED ALWAYS AS IDENTITY (CACHE 1),
    first int8,
    changes int8 NOT NULL,
    at_ms int8 NOT NULL,
    end_bytes int8,
    lines text COLLATE "C" NOT NULL`,
  changes_end: `
    one int8 PRIMARY KEY,
    next int8 NOT NULL,
    bytes int8 NOT NULL`,
}

const names = Object.keys(tables)

function columnNamesOf(name: string): readonly string[] {
  return [...(tables[name] ?? '').matchAll(/^ *([a-z_]+) /gm)].map(([, column = '']) => column)
}

export interface Migration {
  readonly statements: readonly string[]
  /** The oldest version whose programs can use these tables. Rolling upgrades need it to be older than this one. */
  readonly oldestVersion: number
}

export const migrations: readonly Migration[] = [
  {
    oldestVersion: 1,
    statements: [
      ...names.slice(1).map((name) => `CREATE TABLE ${name} (${tables[name]})`),
      // A folded name may be too long for an index.
      'CREATE INDEX plants_by_name ON plants (left(name_folded, 250))',
      `CREATE INDEX plants_by_tag ON plants (${tagOfPlant}, id) WHERE ${tagOfPlant} IS NOT NULL`,
      'CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at_ms)',
      'CREATE UNIQUE INDEX changes_by_number ON changes (first) WHERE first IS NOT NULL',
      'CREATE INDEX changes_without_number ON changes (place) WHERE first IS NULL AND changes > 0',
      'CREATE INDEX changes_without_plants ON changes (at_ms) WHERE changes <= 0',
      // The beginning of the log. Its time distinguishes the log from those of other stores.
      `INSERT INTO changes (id, first, changes, at_ms, end_bytes, lines)
        VALUES (gen_random_uuid(), 1, 1, ${nowMs}, 0, '')`,
      'INSERT INTO changes_end VALUES (1, 2, 0)',
    ],
  },
]

const statements = named({
  findSchema: `SELECT to_regclass('plantstore_schema') IS NOT NULL`,
  readSchema: 'SELECT version, oldest_version FROM plantstore_schema WHERE one = 1',
})

/**
 * Migrates the tables to the newest version, in one transaction. Any number of servers may call this concurrently.
 *
 * @param steps those of this program, or more for a test of the mechanism.
 * @throws MissingStoreError if there are no tables and `mayMake` is false; OperatorError if this program cannot use
 * the version of the tables, or if they belong to another program.
 */
export async function migrate(connection: Connection, options: DatabaseOptions, steps = migrations): Promise<void> {
  const { mayMake, place, limits, clock } = options
  const [[isMade] = []] = await connection.query(statements.findSchema)
  if (isMade === true && (await checkVersion(connection, steps.length)) >= steps.length) return
  if (isMade !== true && !mayMake) {
    throw new MissingStoreError(`there is no store in ${place} yet; a server or an import makes one`)
  }
  const deadlineMs = clock.monotonicMs() + limits.databaseOpenLockMsMax
  for (;;) {
    try {
      await takeSteps(connection, limits, steps, isMade === true)
      return
    } catch (error) {
      // A failure here means that the connection is lost; report the first error.
      await connection.command('ROLLBACK').catch(() => {})
      // A long read, such as that of pg_dump, blocks ALTER TABLE.
      if (failureOf(error) !== 'locked' || clock.monotonicMs() >= deadlineMs) throw explainExisting(error)
      await sleep(limits.databaseRetryMs * Math.random())
    }
  }
}

/** Returns the version of the tables. Throws OperatorError if this program cannot use them. */
export async function checkVersion(connection: Connection, newestVersion = migrations.length): Promise<number> {
  const [row] = await connection.query(statements.readSchema)
  const [version, oldestVersion] = (row ?? [0n, 0n]) as unknown as [bigint, bigint]
  if (oldestVersion > BigInt(newestVersion)) {
    throw new OperatorError(
      `the database was changed by a newer plantstore (its tables have version ${version}, this program knows ${newestVersion}); use the newer program`,
    )
  }
  return Number(version)
}

async function takeSteps(
  connection: Connection,
  limits: Limits,
  steps: readonly Migration[],
  isMade: boolean,
): Promise<void> {
  await connection.command('BEGIN ISOLATION LEVEL READ COMMITTED')
  // A server that freezes must not keep its turn.
  await connection.command(`SET LOCAL idle_in_transaction_session_timeout = ${limits.databaseIdleMsMax}`)
  // Servers take turns: those that create the same table concurrently may conflict in the system catalog.
  await connection.command(`SELECT pg_advisory_xact_lock(hashtext('plantstore'), hashtext(current_schema()))`)
  // This would not find tables in a later schema of the search path.
  if (!isMade) await connection.command(`CREATE TABLE IF NOT EXISTS plantstore_schema (${tables['plantstore_schema']})`)
  await connection.command('INSERT INTO plantstore_schema VALUES (1, 0, 0) ON CONFLICT DO NOTHING')
  const version = await checkVersion(connection, steps.length)
  // While an ALTER TABLE waits for its lock, reads of other servers queue behind it.
  await connection.command(`SET LOCAL lock_timeout = ${limits.databaseMigrationLockMs}`)
  for (const { statements, oldestVersion } of steps.slice(version)) {
    // Waits for pending transactions. Later ones of older servers fail (transaction.ts).
    if (oldestVersion > version && version > 0) await connection.command('LOCK TABLE changes IN SHARE MODE')
    for (const statement of statements) await connection.command(statement)
    await connection.command(`UPDATE plantstore_schema SET oldest_version = ${oldestVersion} WHERE one = 1`)
  }
  await connection.command(`UPDATE plantstore_schema SET version = ${Math.max(version, steps.length)} WHERE one = 1`)
  await connection.command('COMMIT')
}

function explainExisting(error: unknown): unknown {
  if (codeOf(error) !== '42P07') return error
  return new OperatorError(
    `the database has a table of another program under a name that the store needs (${messageOf(error)}); use another database or schema or, if this is a store, put the row back into plantstore_schema`,
    { cause: error },
  )
}

/** One row per problem. A missing column, or a policy that hides rows, is an error even under a false condition. */
const probe = {
  name: 'probe',
  text: `SELECT format('this user may not read and change the table %s', name) FROM unnest($1::text[]) AS name
      WHERE NOT (has_table_privilege(name, 'SELECT') AND has_table_privilege(name, 'INSERT')
        AND has_table_privilege(name, 'UPDATE') AND has_table_privilege(name, 'DELETE'))
    UNION ALL SELECT format('the column %s of the table %s needs a value, and plantstore gives it none', attname, name)
      FROM unnest($1::text[]) AS name JOIN pg_attribute ON attrelid = name::regclass
      WHERE attnum > 0 AND attnotnull AND NOT atthasdef AND attidentity = '' AND NOT attisdropped
        AND attname <> ALL($2::text[])
    ${names.map((name) => `UNION ALL SELECT concat(${columnNamesOf(name)}) FROM ${name} WHERE false`).join('\n')}`,
}

/**
 * Returns the problem that makes the tables unusable; undefined if there is none, or a lock prevents the check. Throws
 * errors that do not concern the tables, such as a lost connection.
 */
export async function findUnusable(prober: Connection): Promise<unknown> {
  try {
    const [problem] = await prober.query(probe, [names, names.flatMap(columnNamesOf)])
    return problem && new Error(String(problem[0]))
  } catch (error) {
    const failure = failureOf(error)
    if (failure === 'unusable' || failure === 'own') return error
    if (failure === 'locked') return undefined
    throw error
  }
}
