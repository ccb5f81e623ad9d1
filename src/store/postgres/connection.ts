// One connection to PostgreSQL: opened, made sure of, and ready for statements, which may be sent without waiting for the
// answers to those before them.

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import pgpass from 'pgpass'
import { OperatorError } from '../../domain/errors.ts'
import type { Address, Host } from './address.ts'

/** A statement that is prepared once a connection, under its name. */
export interface Statement {
  readonly name: string
  readonly text: string
}

export type Row = readonly unknown[]

export interface Timeouts {
  readonly connectMsMax: number
  /** For a statement, judged by the server. A commit that waits for a standby is not counted. */
  readonly statementMsMax: number
  /** For an answer, judged here: past it the connection is lost. 0: no end. */
  readonly answerMsMax: number
  readonly lockMsMax: number
  /** For a transaction that does nothing. 0: no end. */
  readonly idleTransactionMsMax: number
}

const int8 = 20
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === int8 ? BigInt : pg.types.getTypeParser(oid, format as 'text'),
} as unknown as pg.CustomTypesConfig

export class Connection {
  readonly #client: pg.Client
  readonly #lost = new AbortController()
  #isUnconfirmed = false
  #pending = 0

  private constructor(client: pg.Client) {
    this.#client = client
    client.on('error', (error) => this.#lost.abort(error))
    client.on('end', () => this.#lost.abort(new Error('the connection to the database has ended')))
    client.on('notice', ({ routine }) => {
      if (routine === standbyWait) this.#isUnconfirmed = true
    })
  }

  /** Opens a connection to a host that takes changes. Throws what stands in the way. */
  static async open(address: Address, { host, port }: Host, timeouts: Timeouts): Promise<Connection> {
    const { user, database, applicationName, options, password, connectMsMax, tlsAttempts } = address
    let failure: unknown
    for (const ssl of host.startsWith('/') ? [false as const] : tlsAttempts) {
      const client = new pg.Client({
        host,
        port,
        user,
        database,
        ssl,
        types,
        password: password ?? (() => readPasswordFile(host, port, database, user)),
        application_name: applicationName,
        ...(options !== undefined && { options }),
        connectionTimeoutMillis: connectMsMax ?? timeouts.connectMsMax,
        query_timeout: timeouts.answerMsMax,
        keepAlive: true,
        pipeline: true,
      })
      // Of a connection that has failed once, pg may say so again.
      client.on('error', () => {})
      try {
        await client.connect()
        const connection = new Connection(client)
        await connection.#prepare(timeouts)
        return connection
      } catch (error) {
        // That there is no TLS says less than why there is no connection without it.
        if (failure === undefined || !isTlsMissing(error)) failure = error
        client.end().catch(() => {})
        if (!mayHaveToDoWithTls(error)) break
      }
    }
    throw failure
  }

  async #prepare({ statementMsMax, lockMsMax, idleTransactionMsMax }: Timeouts): Promise<void> {
    const settings = { statement_timeout: statementMsMax, lock_timeout: lockMsMax }
    const [encoding, readOnly] = await this.sendTogether(() => [
      this.#client.query<[string]>({ text: 'SHOW server_encoding', rowMode: 'array' }),
      this.#client.query<[string]>({ text: 'SHOW transaction_read_only', rowMode: 'array' }),
      ...Object.entries({ ...settings, idle_in_transaction_session_timeout: idleTransactionMsMax }).map(([name, ms]) =>
        this.#client.query<[string]>({ text: `SET ${name} = ${ms}`, rowMode: 'array' }),
      ),
    ])
    if (encoding?.rows[0]?.[0] !== 'UTF8') {
      throw new OperatorError(`the database's encoding must be UTF8, it is ${encoding?.rows[0]?.[0]}`)
    }
    if (readOnly?.rows[0]?.[0] !== 'off') throw new Error('the database takes no changes: it is a standby or read-only')
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
    this.#pending += 1
    return this.#client.query({ name, text, values: values as unknown[], rowMode: 'array' }).finally(() => {
      this.#pending -= 1
    })
  }

  /** Sends a text that needs no preparation. Gives the command that was done: a COMMIT may end as ROLLBACK. */
  async command(text: string): Promise<string> {
    return (await this.#client.query(text)).command
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

  /** Whether, since the last call, the server has said that it stopped to wait for a standby before it confirmed a commit. */
  takeUnconfirmed(): boolean {
    const isUnconfirmed = this.#isUnconfirmed
    this.#isUnconfirmed = false
    return isUnconfirmed
  }

  /** Statements that are not answered yet. */
  get pending(): number {
    return this.#pending
  }

  /** Cuts the connection: everything in flight fails. */
  lose(cause: unknown): void {
    this.#lost.abort(cause)
    this.#client.connection.stream.destroy()
  }

  /** Says good-bye, for a while at most. */
  async close(): Promise<void> {
    await Promise.race([this.#client.end(), sleep(closeMsMax, undefined, { ref: false })])
    this.#client.connection.stream.destroy()
  }
}

const closeMsMax = 200
/** The routine of the server that waits for standbys. */
const standbyWait = 'SyncRepWaitForLSN'

/** A server without TLS, or one that admits a user only with it, or only without. */
function mayHaveToDoWithTls(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return error.code === '28000'
  return (
    error instanceof Error &&
    (/SSL|TLS/.test(error.message) || /SSL|TLS|CERT/.test(String('code' in error && error.code)))
  )
}

function isTlsMissing(error: unknown): boolean {
  return error instanceof Error && error.message === 'The server does not support SSL connections'
}

function readPasswordFile(host: string, port: number, database: string, user: string): Promise<string> {
  return new Promise((resolve) => pgpass({ host, port, database, user }, (password) => resolve(password ?? '')))
}
