// A connection to PostgreSQL that pipelines statements. Opening it sets the settings that a store relies on, and refuses a
// database that is unsuitable for one.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import pgpass from 'pgpass'
import { codeOf, OperatorError } from '../../../domain/errors.ts'
import type { Limits } from '../../../limits.ts'
import { type Address, type DatabaseOptions, readTlsAttempts, type TlsAttempt } from './address.ts'
import { unknownOutcome } from './failures.ts'

/** A statement that each connection prepares once, under its name. */
export interface Statement {
  readonly name: string
  readonly text: string
}

export function named<Name extends string>(texts: Readonly<Record<Name, string>>): Readonly<Record<Name, Statement>> {
  const entries = Object.entries<string>(texts).map(([name, text]) => [name, { name, text }])
  return Object.fromEntries(entries)
}

/**
 * Makes a write fail, and so its transaction, unless it writes a number of rows (code 22P02, see failures.ts): a trigger
 * or a rule may skip rows. By default, the number is 1.
 */
export function written(write: string, rows = '1'): string {
  return `WITH written AS (${write} RETURNING 1)
    SELECT (CASE WHEN count(*) = ${rows} THEN '1' ELSE 'not every row was written' END)::int8 FROM written`
}

export type Row = readonly unknown[]

/** Keeps integers exact. */
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? BigInt : pg.types.getTypeParser(oid, format as 'text'),
} as unknown as pg.CustomTypesConfig

export type ConnectionOptions = Pick<DatabaseOptions, 'address' | 'clock' | 'limits'>

/** Opens a connection for long-running work. `answerMsMax` limits each step; 0 means no limit. */
export function openForBulk(options: ConnectionOptions, answerMsMax = 0): Promise<Connection> {
  const lockMsMax = options.limits.databaseOpenLockMsMax
  return Connection.open(options, { statementMsMax: 0, lockMsMax, answerMsMax, idleTransactionMsMax: 0 })
}

export class Connection {
  readonly #client: pg.Client
  readonly #options: ConnectionOptions
  readonly #lost: AbortController
  /** The `pid` in pg_stat_activity. */
  readonly backendId: number
  #isUnconfirmed = false
  #pending = 0
  /** By the monotonic clock: when the last answer arrived or, if none was pending, the next statement was sent. */
  #heardAtMs = 0

  private constructor(client: pg.Client, backendId: number, options: ConnectionOptions, lost: AbortController) {
    this.#client = client
    this.backendId = backendId
    this.#options = options
    this.#lost = lost
    client.on('error', (error) => lost.abort(error))
    client.on('end', () => lost.abort(new Error('the connection to the database has ended')))
    const { stream } = client.connection
    lost.signal.addEventListener('abort', () => stream.destroy())
    if (lost.signal.aborted) stream.destroy()
    stream.on('data', () => {
      this.#heardAtMs = options.clock.monotonicMs()
    })
    client.on('notice', ({ routine }) => {
      if (routine === standbyWait) this.#isUnconfirmed = true
    })
  }

  /**
   * Opens a connection. Throws if the database accepts no changes.
   *
   * @param lost aborted when the connection is lost. Other connections may share it; then all are lost together.
   */
  static async open(options: ConnectionOptions, work: WorkLimits, lost = new AbortController()): Promise<Connection> {
    const { address, limits } = options
    const failures: unknown[] = []
    for (const ssl of address.host.startsWith('/') ? [false as const] : readTlsAttempts(address.tls)) {
      const client = makeClient(address, ssl, work.answerMsMax, limits.databaseKeepAliveMs)
      // pg may report the error of a failed connection again.
      client.on('error', () => {})
      try {
        const opening = client.connect().then(() => prepareSession(client, limits, work))
        const opened = await answerWithin(opening, address.connectMsMax ?? limits.databaseConnectMsMax)
        if (opened === undefined) {
          throw Object.assign(new Error('the database did not answer in time'), { code: 'ETIMEDOUT' })
        }
        return new Connection(client, opened.value, options, lost)
      } catch (error) {
        failures.push(error)
        client.connection.stream.destroy()
        if (!mayHaveToDoWithTls(error)) break
      }
    }
    // An error with a code is more specific than the other, that the server lacks or requires TLS.
    throw failures.findLast((error) => codeOf(error) !== undefined) ?? failures.at(-1)
  }

  /** Sends a statement. Rows are arrays, and int8 is bigint. */
  async query({ name, text }: Statement, values: readonly unknown[] = []): Promise<readonly Row[]> {
    const query = { name, text, values: values as unknown[], rowMode: 'array' as const }
    return (await this.#count(this.#client.query(query))).rows
  }

  /** Sends an unprepared statement. Returns the executed command, which is ROLLBACK for a failed COMMIT. */
  async command(text: string): Promise<string> {
    return (await this.#count(this.#client.query(text))).command
  }

  /** If BEGIN fails, the statements sent after it would each commit, so the connection is closed. */
  async begin(): Promise<void> {
    this.#isUnconfirmed = false
    try {
      await this.command('BEGIN ISOLATION LEVEL READ COMMITTED')
    } catch (cause) {
      this.lose(cause)
      throw new Error('the transaction could not be started', { cause })
    }
  }

  async commit(): Promise<void> {
    const command = await this.command('COMMIT')
    if (command !== 'COMMIT') throw new Error(`the transaction ended with ${command}`)
  }

  /** Throws if the wait for the standby was cancelled: the last commit is on one machine only. */
  assertConfirmed(): void {
    if (this.#isUnconfirmed) throw unknownOutcome(new Error('the standby did not confirm the change'))
  }

  /** Sends all statements of `send` in one write, and waits for all answers. Throws the first failure. */
  async sendTogether<Sent extends readonly Promise<unknown>[]>(
    send: () => readonly [...Sent],
  ): Promise<{ [Index in keyof Sent]: Awaited<Sent[Index]> }> {
    const { stream } = this.#client.connection
    stream.cork()
    let sent: readonly [...Sent]
    try {
      sent = send()
    } finally {
      stream.uncork()
    }
    await Promise.allSettled(sent)
    return Promise.all(sent)
  }

  get pending(): number {
    return this.#pending
  }

  /** How long nothing has arrived while an answer is pending. */
  get silentMs(): number {
    return this.#pending === 0 ? 0 : this.#options.clock.monotonicMs() - this.#heardAtMs
  }

  /** Destroys the connection; all pending statements fail. */
  lose(cause: unknown): void {
    this.#lost.abort(cause)
  }

  /** Closes the connection gracefully, within a time limit. */
  async close(): Promise<void> {
    await answerWithin(this.#client.end(), this.#options.limits.databaseCloseMsMax)
    this.#client.connection.stream.destroy()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #count<T>(answer: Promise<T>): Promise<T> {
    if (this.#pending === 0) this.#heardAtMs = this.#options.clock.monotonicMs()
    this.#pending += 1
    return answer.finally(() => {
      this.#pending -= 1
    })
  }
}

/** The server routine that waits for standbys. */
const standbyWait = 'SyncRepWaitForLSN'

function makeClient(
  { host, port, user, database, password, applicationName, options }: Address,
  ssl: TlsAttempt,
  answerMsMax: number,
  keepAliveMs: number,
): pg.Client {
  return new pg.Client({
    host,
    port,
    user,
    database,
    ssl,
    types,
    password: password ?? (() => readPasswordFile(host, port, database, user)),
    application_name: applicationName,
    ...(options !== undefined && { options }),
    query_timeout: answerMsMax,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    pipeline: true,
  })
}

/** Whether to try with, or without, TLS: the user was rejected, TLS failed or, without a code, is not supported. */
function mayHaveToDoWithTls(error: unknown): boolean {
  const code = codeOf(error)
  return code === undefined || code === '28000' || /SSL|TLS|CERT/.test(code)
}

function readPasswordFile(host: string, port: number, database: string, user: string): Promise<string> {
  return new Promise((resolve) => pgpass({ host, port, database, user }, (password) => resolve(password ?? '')))
}

/** How long the work of a connection may take. 0 means no limit. */
interface WorkLimits {
  /** Timeout of a statement, enforced by the server. Does not apply to a commit that waits for a standby. */
  readonly statementMsMax: number
  readonly lockMsMax: number
  /** Timeout of an answer, measured by the client, after which the connection is lost. */
  readonly answerMsMax: number
  /** Timeout of an idle transaction. 0 keeps the setting of the role. */
  readonly idleTransactionMsMax: number
}

/** Unanswered keep-alive probes before the connection is dropped. */
const keepAliveProbes = 3

/** In the units of their settings. */
function sessionSettings(
  { databaseKeepAliveMs: aliveMs, databaseDeadClientMsMax: deadMs }: Limits,
  { statementMsMax, lockMsMax, idleTransactionMsMax }: WorkLimits,
): Readonly<Record<string, string | number>> {
  return {
    statement_timeout: statementMsMax,
    lock_timeout: lockMsMax,
    ...(idleTransactionMsMax > 0 && { idle_in_transaction_session_timeout: idleTransactionMsMax }),
    tcp_keepalives_idle: Math.ceil(aliveMs / 1_000),
    tcp_keepalives_interval: Math.ceil((deadMs - aliveMs) / keepAliveProbes / 1_000),
    tcp_keepalives_count: keepAliveProbes,
    tcp_user_timeout: deadMs,
    // Disabled: connections stay open between requests, and other limits bound a transaction.
    idle_session_timeout: 0,
    transaction_timeout: 0,
    // Needed for the warning that no standby confirmed a commit.
    client_min_messages: 'notice',
    // NULL in an array means no tag, not the tag "NULL".
    array_nulls: 'on',
    // Rows hidden by a policy cause an error instead of missing results.
    row_security: 'off',
  }
}

/** Skips settings that the version of the server does not have. */
const setAll = `SELECT set_config(name, setting, false) FROM unnest($1::text[], $2::text[]) AS wanted (name, setting)
  WHERE current_setting(name, true) IS NOT NULL`

/** A unique name per session, which reveals when two connections share one. */
const setName = `SELECT set_config('plantstore.session', $1, false)`
const readName = `SELECT current_setting('plantstore.session', true)`

/** Behind a pooler, the id in the protocol is not that of the server process. */
const readSession = `SELECT pg_backend_pid(), current_setting('server_encoding'), current_setting('transaction_read_only'),
  current_setting('plantstore.session', true)`

/**
 * Prepares a session for changes. Returns the id of its server process.
 *
 * @throws OperatorError if the database, or a pooler in front of it, is unsuitable for a store; another Error if it
 * currently accepts no changes.
 */
async function prepareSession(client: pg.Client, limits: Limits, work: WorkLimits): Promise<number> {
  const query = async (text: string, values: unknown[] = []): Promise<readonly unknown[]> =>
    (await client.query<unknown[]>({ text, values, rowMode: 'array' })).rows[0] ?? []
  const name = randomUUID()
  const settings = sessionSettings(limits, work)
  const [[otherName]] = await Promise.all([
    query(readName),
    query(setName, [name]),
    query(setAll, [Object.keys(settings), Object.values(settings).map(String)]),
  ])
  const [backendId, encoding, readOnly, ownName] = await query(readSession)
  if (encoding !== 'UTF8') throw new OperatorError(`the database's encoding must be UTF8, it is ${encoding}`)
  if (otherName || ownName !== name) {
    throw new OperatorError(
      'a pooler in front of the database does not keep a session for each connection; with PgBouncer set pool_mode = session for this database, and server_reset_query = DISCARD ALL',
    )
  }
  if (readOnly !== 'off') {
    throw new Error('the database takes no changes: it is a standby or read-only; the address must lead to the primary')
  }
  return Number(backendId)
}

/** Resolves with the value of a promise, or with undefined after `msMax`. Rejects if the promise rejects before. */
export async function answerWithin<T>(answer: Promise<T>, msMax: number): Promise<{ readonly value: T } | undefined> {
  const answered = new AbortController()
  const late = sleep(msMax, undefined, { signal: answered.signal }).catch(() => undefined)
  try {
    return await Promise.race([answer.then((value) => ({ value })), late])
  } finally {
    answered.abort()
  }
}

const takeOver = 'confirmed plants may be lost when a standby takes over; set it to on'
/**
 * What settings and a table mean that make commits less durable. Only with a standby, `synchronous_commit` must be at
 * least `on`.
 */
const unsafe: Readonly<Record<string, string>> = {
  'fsync = off': 'confirmed plants are lost or damaged when its machine fails; turn it on',
  'full_page_writes = off': 'it may be damaged when its machine fails; turn it on',
  'synchronous_commit = off': 'confirmed plants are lost when it crashes; turn it on',
  'synchronous_commit = local': takeOver,
  'synchronous_commit = remote_write': takeOver,
  'plants = unlogged': 'all plants are lost when it crashes; run ALTER TABLE plants SET LOGGED',
}
const readSettings: Statement = {
  name: 'readSettings',
  text: `SELECT name, setting FROM pg_settings
    WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names')
    UNION ALL SELECT 'plants', 'unlogged' FROM pg_class WHERE oid = to_regclass('plants') AND relpersistence = 'u'`,
}

/** One line for each unsafe setting; none if the server does not reveal its settings. */
export async function warningsOf(connection: Connection): Promise<readonly string[]> {
  const settings = (await connection.query(readSettings)) as unknown as readonly [name: string, setting: string][]
  const hasStandbys = settings.some(([name, names]) => name === 'synchronous_standby_names' && names !== '')
  return settings
    .map(([name, setting]) => `${name} = ${setting}`)
    .filter((each) => unsafe[each] !== undefined && (hasStandbys || unsafe[each] !== takeOver))
    .map((each) => `the database has ${each}: ${unsafe[each]}`)
}
