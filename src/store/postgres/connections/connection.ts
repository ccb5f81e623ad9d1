// A verified connection to PostgreSQL that pipelines statements.

import pg from 'pg'
import pgpass from 'pgpass'
import type { Clock } from '../../../domain/clock.ts'
import { codeOf } from '../../../domain/errors.ts'
import type { Address } from './address.ts'
import { readTlsAttempts, type TlsAttempt } from './database-tls.ts'
import { answerWithin } from './deadline.ts'
import type { DatabaseOptions } from './session-options.ts'
import { prepareSession, type WorkLimits } from './session-settings.ts'

/** A statement that each connection prepares once, under its name. */
export interface Statement {
  readonly name: string
  readonly text: string
}

/** Statements by their names. */
export function named<Name extends string>(texts: Readonly<Record<Name, string>>): Readonly<Record<Name, Statement>> {
  const entries = Object.entries<string>(texts).map(([name, text]) => [name, { name, text }])
  return Object.fromEntries(entries)
}

export type Row = readonly unknown[]

/** Parsers that keep integers exact, by type OID. */
const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  [pg.types.builtins.INT8]: BigInt,
  // int8[] without NULL elements.
  1016: (text) => [...text.matchAll(/-?[0-9]+/g)].map(([digits]) => BigInt(digits)),
}
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    parsers[oid] ?? pg.types.getTypeParser(oid, format as 'text'),
} as unknown as pg.CustomTypesConfig

export type ConnectionOptions = Pick<DatabaseOptions, 'address' | 'clock' | 'limits'>

/** Opens a connection for long-running work. `answerMsMax` limits each step; 0 means no limit. */
export function openForBulk(options: ConnectionOptions, answerMsMax = 0): Promise<Connection> {
  const lockMsMax = options.limits.databaseOpenLockMsMax
  return Connection.open(options, { statementMsMax: 0, lockMsMax, answerMsMax, idleTransactionMsMax: 0 })
}

export class Connection {
  readonly #client: pg.Client
  readonly #clock: Clock
  readonly #closeMsMax: number
  readonly #lost = new AbortController()
  /** The `pid` in pg_stat_activity. */
  readonly backendId: number
  #isUnconfirmed = false
  #pending = 0
  /** When the last answer arrived, or the first statement was sent after all answers had, by the monotonic clock. */
  #heardAtMs = 0

  private constructor(client: pg.Client, backendId: number, { clock, limits }: ConnectionOptions) {
    this.#client = client
    this.#clock = clock
    this.backendId = backendId
    this.#closeMsMax = limits.databaseCloseMsMax
    client.on('error', (error) => this.#lost.abort(error))
    client.on('end', () => this.#lost.abort(new Error('the connection to the database has ended')))
    client.connection.stream.on('data', () => {
      this.#heardAtMs = clock.monotonicMs()
    })
    client.on('notice', ({ routine }) => {
      if (routine === standbyWait) this.#isUnconfirmed = true
    })
  }

  /** Opens a connection. Throws if the database takes no changes. */
  static async open(options: ConnectionOptions, work: WorkLimits): Promise<Connection> {
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
        return new Connection(client, opened.value, options)
      } catch (error) {
        failures.push(error)
        client.connection.stream.destroy()
        if (!mayHaveToDoWithTls(error)) break
      }
    }
    // An error with a code is more specific: the other one is that the server lacks TLS or requires it.
    throw failures.findLast((error) => codeOf(error) !== undefined) ?? failures.at(-1)
  }

  /** Aborted with the cause when the connection is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /** Sends a statement. Rows are arrays, and int8 is bigint. */
  async query(statement: Statement, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return (await this.run(statement, values)).rows
  }

  /** Like `query`, but also returns the number of changed rows. */
  run({ name, text }: Statement, values: readonly unknown[] = []): Promise<pg.QueryArrayResult> {
    return this.#count(this.#client.query({ name, text, values: values as unknown[], rowMode: 'array' }))
  }

  /** Sends an unprepared statement. Returns the executed command, which is ROLLBACK for a failed COMMIT. */
  async command(text: string): Promise<string> {
    return (await this.#count(this.#client.query(text))).command
  }

  /** Sends all statements of `send` in one write, and waits for all answers. Throws the first failure. */
  async sendTogether<T>(send: () => readonly Promise<T>[]): Promise<T[]> {
    const { stream } = this.#client.connection
    stream.cork()
    let sent: readonly Promise<T>[]
    try {
      sent = send()
    } finally {
      stream.uncork()
    }
    const results = await Promise.allSettled(sent)
    return results.map((result) => {
      if (result.status === 'rejected') throw result.reason
      return result.value
    })
  }

  /**
   * Whether, since the last call, the server reported that it cancelled the wait for a standby.
   */
  takeUnconfirmed(): boolean {
    const isUnconfirmed = this.#isUnconfirmed
    this.#isUnconfirmed = false
    return isUnconfirmed
  }

  /** Number of unanswered statements. */
  get pending(): number {
    return this.#pending
  }

  /** How long an answer has been pending without anything arriving. */
  get silentMs(): number {
    return this.#pending === 0 ? 0 : this.#clock.monotonicMs() - this.#heardAtMs
  }

  /** Destroys the connection; all pending statements fail. */
  lose(cause: unknown): void {
    this.#lost.abort(cause)
    this.#client.connection.stream.destroy()
  }

  /** Closes the connection gracefully, within a time limit. */
  async close(): Promise<void> {
    await answerWithin(this.#client.end(), this.#closeMsMax)
    this.#client.connection.stream.destroy()
  }

  #count<T>(answer: Promise<T>): Promise<T> {
    if (this.#pending === 0) this.#heardAtMs = this.#clock.monotonicMs()
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

/**
 * Whether to try again with, or without, TLS: the server rejects the user, TLS failed, or, without a code, the server
 * does not support TLS.
 */
function mayHaveToDoWithTls(error: unknown): boolean {
  const code = codeOf(error)
  return code === undefined || code === '28000' || /SSL|TLS|CERT/.test(code)
}

function readPasswordFile(host: string, port: number, database: string, user: string): Promise<string> {
  return new Promise((resolve) => pgpass({ host, port, database, user }, (password) => resolve(password ?? '')))
}
