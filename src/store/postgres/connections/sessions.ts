// Groups the connections of a server to its database into a session. If one connection is lost, or the database stops
// answering, all are closed, and a new session is opened. This is retried indefinitely.

import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, messageOf } from '../../../domain/errors.ts'
import type { DatabaseOptions } from './address.ts'
import { answerWithin, Connection, type Statement } from './connection.ts'
import { refusalOf } from './failures.ts'
import { findUnusable } from './tables.ts'

/** Sessions that have been waiting for their clients for some time. */
const findWaiting: Statement = {
  name: 'findWaitingSessions',
  text: `SELECT pid FROM pg_stat_activity WHERE pid = ANY($1::int4[]) AND wait_event_type = 'Client'
    AND state_change < clock_timestamp() - $2::int8 * interval '1 ms'`,
}

type FirstConnections = readonly [Connection, Connection, Connection, Connection, ...Connection[]]

export class Session {
  /** For batches of changes. */
  readonly changes: Connection
  /** For changes that met a locked row. */
  readonly lockedChanges: Connection
  /** For the log of changes. */
  readonly log: Connection
  readonly #all: readonly Connection[]
  readonly #prober: Connection
  readonly #readers: readonly Connection[]
  readonly #silenceMs: number
  readonly #lost = new AbortController()
  #unusable: unknown

  private constructor(connections: readonly Connection[], silenceMs: number) {
    const [changes, lockedChanges, log, prober, ...readers] = connections as FirstConnections
    this.#all = connections
    this.changes = changes
    this.lockedChanges = lockedChanges
    this.log = log
    this.#prober = prober
    this.#readers = readers
    this.#silenceMs = silenceMs
    for (const connection of connections) {
      connection.lost.addEventListener('abort', () => this.lose(connection.lost.reason))
      if (connection.lost.aborted) this.lose(connection.lost.reason)
    }
  }

  /** Opens all connections. Throws the error of the first one that fails. */
  static async open(options: DatabaseOptions): Promise<Session> {
    const { limits } = options
    const open = (statementMsMax: number, lockMsMax: number, answerMsMax = 0): Promise<Connection> => {
      const work = { statementMsMax, lockMsMax, answerMsMax, idleTransactionMsMax: limits.databaseIdleMsMax }
      return Connection.open(options, work)
    }
    const opened = await Promise.allSettled([
      open(limits.databaseCommitMsMax, limits.databaseLockMs),
      open(limits.databaseCommitMsMax, limits.databaseLockRetryMs),
      // A number that is not confirmed by a standby must not be seen, so its commit has no time limit.
      open(0, limits.databaseReadMsMax),
      // Only the prober detects a database that does not answer at all.
      open(0, limits.databaseLockMs, limits.databaseProbeMsMax),
      ...Array.from({ length: limits.databaseReaders }, () => open(limits.databaseReadMsMax, limits.databaseReadMsMax)),
    ])
    const connections = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    const refused = opened.find((result) => result.status === 'rejected')
    if (refused === undefined) return new Session(connections, limits.databaseSilenceMs)
    for (const connection of connections) connection.lose(refused.reason)
    throw refused.reason
  }

  /** Aborted with the cause when the session is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /** The least busy connection for reads. */
  get reader(): Connection {
    return this.#readers.reduce((least, reader) => (reader.pending < least.pending ? reader : least))
  }

  /** Why the connected session is unusable; undefined if it is usable. */
  get unusable(): unknown {
    return this.#unusable
  }

  lose(cause: unknown): void {
    if (this.lost.aborted) return
    this.#lost.abort(cause)
    for (const connection of this.#all) connection.lose(cause)
  }

  async close(): Promise<void> {
    this.#lost.abort(new Error('the store is closed'))
    await Promise.all(this.#all.map((connection) => connection.close()))
  }

  /** Checks that the database answers over every connection, and that its tables are usable. */
  async probe(): Promise<void> {
    try {
      const [, unusable] = await Promise.all([this.#findSilence(), findUnusable(this.#prober)])
      this.#unusable = unusable
    } catch (error) {
      this.lose(error)
    }
  }

  /**
   * Ends the session if one of its connections loses all packets, which TCP takes 15 minutes to notice: an answer is
   * pending, but PostgreSQL is waiting for the next statement. A slow statement, a lock and a standby are worth waiting
   * for.
   */
  async #findSilence(): Promise<void> {
    const isSilent = (connection: Connection): boolean => connection.silentMs >= this.#silenceMs
    const silent = this.#all.filter(isSilent)
    if (silent.length === 0) return
    const rows = await this.#prober.query(findWaiting, [silent.map(({ backendId }) => backendId), this.#silenceMs])
    const waiting = silent.filter(({ backendId }) => rows.some(([id]) => id === backendId))
    // An answer may have arrived meanwhile.
    if (waiting.some(isSilent)) this.lose(new Error('a connection is silent, although the database answers'))
  }
}

export class Sessions {
  readonly #options: DatabaseOptions
  readonly #closing = new AbortController()
  readonly #running: Promise<void>
  #session: Session
  /** When the session was lost, by the monotonic clock; 0 while it is open. */
  #lostAtMs = 0
  #next = Promise.withResolvers<Session>()
  /** Since when the database has been unusable, and the last report of it; times by the monotonic clock. */
  #away: { readonly sinceMs: number; readonly said: string; readonly saidAtMs: number } | undefined

  /** @param first a session that was opened with the same options. */
  constructor(first: Session, options: DatabaseOptions) {
    this.#options = options
    this.#session = first
    this.#running = this.#run()
  }

  /** Whether a call would be tried, now or after a reconnection. */
  get isAvailable(): boolean {
    return this.#session.unusable === undefined && (!this.#session.lost.aborted || this.#graceLeftMs() > 0)
  }

  /**
   * The current session. If it was lost, waits for the next one during the grace period.
   *
   * @throws AppError `storeAway` if there is none.
   */
  async current(): Promise<Session> {
    if (this.#session.unusable !== undefined) throw refusalOf('unusable', this.#session.unusable)
    if (!this.#session.lost.aborted) return this.#session
    this.#lostAtMs ||= this.#nowMs()
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
    return this.#options.limits.databaseGraceMs - (this.#lostAtMs === 0 ? 0 : this.#nowMs() - this.#lostAtMs)
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs()
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      await this.#watch(this.#session)
      if (this.#closing.signal.aborted) return
      this.#lostAtMs ||= this.#nowMs()
      this.#report(this.#session.lost.reason)
      const session = await this.#reopen()
      if (session === undefined) return
      if (this.#closing.signal.aborted) return session.close()
      this.#report(undefined)
      this.#session = session
      this.#lostAtMs = 0
      this.#next.resolve(session)
      this.#next = Promise.withResolvers()
    }
  }

  /** Probes a session until it is lost. */
  async #watch(session: Session): Promise<void> {
    while (!session.lost.aborted) {
      await session.probe()
      if (!session.lost.aborted) this.#report(session.unusable)
      await sleep(this.#options.limits.databaseProbeMs, undefined, { signal: session.lost }).catch(() => {})
    }
  }

  async #reopen(): Promise<Session | undefined> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      try {
        const session = await Session.open(this.#options)
        if (!signal.aborted) return session
        await session.close()
      } catch (cause) {
        this.#report(cause)
        // Jitter, so that the servers of a fleet do not all reconnect at once.
        const pauseMs = this.#options.limits.databaseRetryMs * (0.5 + Math.random())
        await sleep(pauseMs, undefined, { signal }).catch(() => {})
      }
    }
    return undefined
  }

  /** Reports that the database is away, again if the reason changes, but at a limited rate; or that it is back. */
  #report(cause: unknown): void {
    const { limits, observe } = this.#options
    const [away, nowMs, said] = [this.#away, this.#nowMs(), messageOf(cause)]
    if (cause === undefined) {
      if (away !== undefined) observe({ kind: 'storeBack', awayMs: nowMs - away.sinceMs })
      this.#away = undefined
    } else if (away === undefined || (said !== away.said && nowMs >= away.saidAtMs + limits.databaseReasonMs)) {
      observe({ kind: 'storeAway', cause })
      this.#away = { sinceMs: away?.sinceMs ?? nowMs, said, saidAtMs: nowMs }
    }
  }
}
