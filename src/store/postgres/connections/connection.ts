// A verified connection to PostgreSQL that pipelines statements.

import { randomUUID } from 'node:crypto'
import pg from 'pg'
import pgpass from 'pgpass'
import { codeOf } from '../../../domain/errors.ts'
import type { Address, Host } from './address.ts'
import { readTlsAttempts, type TlsAttempt } from './database-tls.ts'
import { answerWithin } from './deadline.ts'
import type { Position } from './hosts.ts'
import type { DatabaseOptions } from './session-options.ts'
import { prepareSession, type WorkLimits } from './session-settings.ts'

/** A statement that each connection prepares once, under its name. */
export interface Statement {
  readonly name: string
  readonly text: string
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

export class Connection {
  /** Undefined if the server does not reveal it. */
  readonly position: Position | undefined
  readonly #client: pg.Client
  readonly #closeMsMax: number
  readonly #lost = new AbortController()
  /** The `pid` in pg_stat_activity. */
  readonly backendId: number
  #isUnconfirmed = false
  #pending = 0
  #received = 0

  private constructor(client: pg.Client, backendId: number, position: Position | undefined, closeMsMax: number) {
    this.position = position
    this.#client = client
    this.backendId = backendId
    this.#closeMsMax = closeMsMax
    client.on('error', (error) => this.#lost.abort(error))
    client.on('end', () => this.#lost.abort(new Error('the connection to the database has ended')))
    client.connection.stream.on('data', () => {
      this.#received += 1
    })
    client.on('notice', ({ routine }) => {
      if (routine === standbyWait) this.#isUnconfirmed = true
    })
  }

  /** Opens a connection. Throws if the host takes no changes or is a former primary. */
  static async open(
    { address, hosts, limits }: Pick<DatabaseOptions, 'address' | 'hosts' | 'limits'>,
    host: Host,
    work: WorkLimits,
  ): Promise<Connection> {
    const failures: unknown[] = []
    for (const ssl of host.host.startsWith('/') ? [false as const] : readTlsAttempts(address.tls)) {
      const client = makeClient(address, host, ssl, work.answerMsMax, limits.databaseKeepAliveMs)
      // pg may report the error of a failed connection again.
      client.on('error', () => {})
      try {
        const opening = client
          .connect()
          .then(() => Promise.all([prepareSession(client, randomUUID(), limits, work), hosts.admit(client, host)]))
        const opened = await answerWithin(opening, address.connectMsMax ?? limits.databaseConnectMsMax)
        if (opened === undefined) {
          throw Object.assign(new Error('the database did not answer in time'), { code: 'ETIMEDOUT' })
        }
        return new Connection(client, ...opened.value, limits.databaseCloseMsMax)
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

  /** Total number of chunks received. */
  get received(): number {
    return this.#received
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
    this.#pending += 1
    return answer.finally(() => {
      this.#pending -= 1
    })
  }
}

/** The server routine that waits for standbys. */
const standbyWait = 'SyncRepWaitForLSN'

function makeClient(
  { user, database, password, applicationName, options }: Address,
  { host, port }: Host,
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

/** Whether opening a connection failed because nothing was received. */
export function isSilence(error: unknown): boolean {
  return codeOf(error) === 'ETIMEDOUT'
}

function readPasswordFile(host: string, port: number, database: string, user: string): Promise<string> {
  return new Promise((resolve) => pgpass({ host, port, database, user }, (password) => resolve(password ?? '')))
}
