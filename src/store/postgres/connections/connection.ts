// One connection to PostgreSQL: opened, made sure of, and ready for statements, which may be sent without waiting for
// the answers to those before them.

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

/** A statement that is prepared once a connection, under its name. */
export interface Statement {
  readonly name: string
  readonly text: string
}

export type Row = readonly unknown[]

/** Exact, by the numbers that PostgreSQL has for its types. */
const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  [pg.types.builtins.INT8]: BigInt,
  // int8[], of which none is NULL.
  1016: (text) => [...text.matchAll(/-?[0-9]+/g)].map(([digits]) => BigInt(digits)),
}
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    parsers[oid] ?? pg.types.getTypeParser(oid, format as 'text'),
} as unknown as pg.CustomTypesConfig

export class Connection {
  /** Undefined: the server does not tell. */
  readonly position: Position | undefined
  readonly #client: pg.Client
  readonly #closeMsMax: number
  readonly #lost = new AbortController()
  /** The process of PostgreSQL, as pg_stat_activity has it. */
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

  /** Opens a connection to a host that takes changes, and that is no former primary. Throws what stands in the way. */
  static async open(
    { address, hosts, limits }: Pick<DatabaseOptions, 'address' | 'hosts' | 'limits'>,
    host: Host,
    work: WorkLimits,
  ): Promise<Connection> {
    const failures: unknown[] = []
    for (const ssl of host.host.startsWith('/') ? [false as const] : readTlsAttempts(address.tls)) {
      const client = makeClient(address, host, ssl, work.answerMsMax, limits.databaseKeepAliveMs)
      // Of a connection that has failed once, pg may say so again.
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
    // Of two the one with a code says more: the other is that the server has no TLS, or has it only.
    throw failures.findLast((error) => codeOf(error) !== undefined) ?? failures.at(-1)
  }

  /** Aborted with the cause once the connection is of no use. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /** Sends a statement; its rows are arrays, int8 is bigint. */
  async query(statement: Statement, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return (await this.run(statement, values)).rows
  }

  /** The same with the number of rows that were changed. */
  run({ name, text }: Statement, values: readonly unknown[] = []): Promise<pg.QueryArrayResult> {
    return this.#count(this.#client.query({ name, text, values: values as unknown[], rowMode: 'array' }))
  }

  /** Sends a text that needs no preparation. Gives the command that was done: a COMMIT may end as ROLLBACK. */
  async command(text: string): Promise<string> {
    return (await this.#count(this.#client.query(text))).command
  }

  /** Has everything that is sent meanwhile go out at once, and waits for all answers. Throws the first failure. */
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
   * Whether, since the last call, the server has said that it stopped to wait for a standby before it confirmed a
   * commit.
   */
  takeUnconfirmed(): boolean {
    const isUnconfirmed = this.#isUnconfirmed
    this.#isUnconfirmed = false
    return isUnconfirmed
  }

  /** Statements that are not answered yet. */
  get pending(): number {
    return this.#pending
  }

  /** Pieces of answers that have come, in all. */
  get received(): number {
    return this.#received
  }

  /** Cuts the connection: everything in flight fails. */
  lose(cause: unknown): void {
    this.#lost.abort(cause)
    this.#client.connection.stream.destroy()
  }

  /** Says good-bye, for a while at most. */
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

/** The routine of the server that waits for standbys. */
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
 * A server that admits a user only with TLS, or only without; a failure of TLS; or, without a code, a server that has
 * none.
 */
function mayHaveToDoWithTls(error: unknown): boolean {
  const code = codeOf(error)
  return code === undefined || code === '28000' || /SSL|TLS|CERT/.test(code)
}

/** Whether a connection could not be opened because nothing came back. */
export function isSilence(error: unknown): boolean {
  return codeOf(error) === 'ETIMEDOUT'
}

function readPasswordFile(host: string, port: number, database: string, user: string): Promise<string> {
  return new Promise((resolve) => pgpass({ host, port, database, user }, (password) => resolve(password ?? '')))
}
