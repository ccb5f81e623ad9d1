// The connections of a server to its database as one session: when one of them is lost, or the database stops answering, all
// are given up and a new session is begun, over and over, with whichever host takes changes by then.

import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../domain/errors.ts'
import type { DatabaseLimits, StoreOptions } from '../options.ts'
import { type Address, onFirstHost } from './address.ts'
import { Connection } from './connection.ts'
import { answerWithin } from './deadline.ts'

/** What a store in PostgreSQL is opened with, and where it is. */
export interface DatabaseOptions extends StoreOptions {
  readonly address: Address
  /** The address as it may be shown. */
  readonly place: string
}

const probe = { name: 'probe', text: 'SELECT 1' }

export class Session {
  readonly writer: Connection
  readonly #readers: readonly Connection[]
  readonly #prober: Connection
  readonly #lost = new AbortController()

  private constructor(connections: readonly Connection[]) {
    const [writer, prober, ...readers] = connections as [Connection, Connection, ...Connection[]]
    this.writer = writer
    this.#prober = prober
    this.#readers = readers
    for (const connection of connections) {
      connection.lost.addEventListener('abort', () => this.lose(connection.lost.reason))
      if (connection.lost.aborted) this.lose(connection.lost.reason)
    }
  }

  /** Opens all connections, to the first host that takes changes. Throws what the last one said. */
  static open({ address, limits }: DatabaseOptions): Promise<Session> {
    return onFirstHost(address, async (host) => {
      const open = (statementMsMax: number, answerMsMax = 0): Promise<Connection> =>
        Connection.open(address, host, {
          connectMsMax: limits.databaseConnectMsMax,
          statementMsMax,
          answerMsMax,
          lockMsMax: limits.databaseLockMsMax,
          idleTransactionMsMax: limits.databaseCommitMsMax,
        })
      const connections: Connection[] = []
      try {
        connections.push(await open(limits.databaseCommitMsMax))
        const readers = Array.from({ length: limits.databaseReaders }, () => open(limits.databaseReadMsMax))
        // Only the prober finds out about a database that does not answer at all.
        const opened = await Promise.allSettled([open(0, limits.databaseProbeMsMax), ...readers])
        for (const result of opened) if (result.status === 'fulfilled') connections.push(result.value)
        const refused = opened.find((result) => result.status === 'rejected')
        if (refused !== undefined) throw refused.reason
        return new Session(connections)
      } catch (error) {
        for (const connection of connections) connection.lose(error)
        throw error
      }
    })
  }

  /** Aborted with the cause once the session is of no use. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /** The connection for reads that has the least to do. */
  get reader(): Connection {
    return this.#readers.reduce((least, reader) => (reader.pending < least.pending ? reader : least))
  }

  lose(cause: unknown): void {
    if (this.lost.aborted) return
    this.#lost.abort(cause)
    for (const connection of [this.writer, this.#prober, ...this.#readers]) connection.lose(cause)
  }

  async close(): Promise<void> {
    this.#lost.abort(new Error('the store is closed'))
    await Promise.all([this.writer, this.#prober, ...this.#readers].map((connection) => connection.close()))
  }

  /** Looks again and again whether the database answers. Resolves once the session is lost. */
  async watch({ databaseProbeMs }: DatabaseLimits): Promise<void> {
    while (!this.lost.aborted) {
      try {
        await this.#prober.query(probe)
      } catch (error) {
        this.lose(error)
      }
      await sleep(databaseProbeMs, undefined, { signal: this.lost }).catch(() => {})
    }
  }
}

export class Sessions {
  readonly #options: DatabaseOptions
  readonly #closing = new AbortController()
  readonly #running: Promise<void>
  #session: Session
  /** When the last session was lost, by the monotonic clock. */
  #lostAtMs = 0
  #next = Promise.withResolvers<Session>()

  /** @param first a session that was opened with the same options. */
  constructor(first: Session, options: DatabaseOptions) {
    this.#options = options
    this.#session = first
    this.#running = this.#run()
  }

  /** Whether a call would be tried, or at least wait for a moment. */
  get isAvailable(): boolean {
    return !this.#session.lost.aborted || this.#graceLeftMs() > 0
  }

  /**
   * The session of now; when it was lost a moment ago, the next one.
   *
   * @throws AppError `storeAway` when there is none.
   */
  async current(): Promise<Session> {
    if (!this.#session.lost.aborted) return this.#session
    if (this.#lostAtMs === 0) this.#lostAtMs = this.#options.clock.monotonicMs()
    const graceLeftMs = this.#graceLeftMs()
    const next = graceLeftMs > 0 ? await answerWithin(this.#next.promise, graceLeftMs) : undefined
    if (next !== undefined && !next.value.lost.aborted) return next.value
    throw new AppError('storeAway', 'the database cannot be reached; nothing was done, try again', {
      cause: this.#session.lost.reason,
    })
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#session.close()
    await this.#running
  }

  #graceLeftMs(): number {
    const { clock, limits } = this.#options
    return this.#lostAtMs === 0 ? limits.databaseGraceMs : this.#lostAtMs + limits.databaseGraceMs - clock.monotonicMs()
  }

  async #run(): Promise<void> {
    const { clock, limits, observe } = this.#options
    while (!this.#closing.signal.aborted) {
      await this.#session.watch(limits)
      if (this.#closing.signal.aborted) return
      if (this.#lostAtMs === 0) this.#lostAtMs = clock.monotonicMs()
      observe({ kind: 'storeAway', cause: this.#session.lost.reason })
      const session = await this.#reopen()
      if (session === undefined) return
      if (this.#closing.signal.aborted) return session.close()
      observe({ kind: 'storeBack', awayMs: clock.monotonicMs() - this.#lostAtMs })
      this.#session = session
      this.#lostAtMs = 0
      this.#next.resolve(session)
      this.#next = Promise.withResolvers()
    }
  }

  async #reopen(): Promise<Session | undefined> {
    const { limits } = this.#options
    while (!this.#closing.signal.aborted) {
      try {
        const session = await Session.open(this.#options)
        if (!this.#closing.signal.aborted) return session
        await session.close()
      } catch {
        // Said once, when it went away. The servers of a fleet do not all come back at the same moment.
        const pauseMs = limits.databaseRetryMs * (0.5 + Math.random())
        await sleep(pauseMs, undefined, { signal: this.#closing.signal }).catch(() => {})
      }
    }
    return undefined
  }
}
