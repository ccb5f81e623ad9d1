// Groups the connections of a server to its database into a session. If one connection is lost, or the database stops
// answering, all are closed, and a new session is opened to the host that takes changes. This is retried indefinitely.

import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, messageOf } from '../../../domain/errors.ts'
import type { StoreLimits } from '../../engine.ts'
import type { Host } from './address.ts'
import { Connection, isSilence } from './connection.ts'
import { answerWithin } from './deadline.ts'
import { refusalOf } from './failures.ts'
import type { DatabaseOptions } from './session-options.ts'
import { Silence } from './silence.ts'
import { surveyHosts } from './survey.ts'
import { findUnusable } from './usability.ts'

/** Attempts to open each connection of a session while others succeed. */
const openTriesMax = 3

export class Session {
  readonly host: Host
  /** For batches of changes. */
  readonly changes: Connection
  /** For changes that met a locked row. */
  readonly lockedChanges: Connection
  /** For the log of changes. */
  readonly log: Connection
  readonly #prober: Connection
  readonly #readers: readonly Connection[]
  readonly #silence: Silence
  readonly #lost = new AbortController()
  #unusable: unknown

  private constructor(host: Host, connections: readonly Connection[], { clock, limits }: DatabaseOptions) {
    const [changes, lockedChanges, log, prober, ...readers] = connections as [
      Connection,
      Connection,
      Connection,
      Connection,
    ]
    this.host = host
    this.changes = changes
    this.lockedChanges = lockedChanges
    this.log = log
    this.#prober = prober
    this.#readers = readers
    this.#silence = new Silence([changes, lockedChanges, log, ...readers], limits.databaseSilenceMs, clock)
    for (const connection of connections) {
      connection.lost.addEventListener('abort', () => this.lose(connection.lost.reason))
      if (connection.lost.aborted) this.lose(connection.lost.reason)
    }
  }

  /** Opens all connections to the first host that takes changes. Throws the error of the last host. */
  static async open(options: DatabaseOptions): Promise<Session> {
    const { hosts, limits } = options
    const openOn = async (host: Host): Promise<Session> => {
      let isThere = false
      const open = async (statementMsMax: number, lockMsMax: number, answerMsMax = 0): Promise<Connection> => {
        for (let tries = 1; ; tries += 1) {
          try {
            const work = { statementMsMax, lockMsMax, answerMsMax, idleTransactionMsMax: limits.databaseIdleMsMax }
            const connection = await Connection.open(options, host, work)
            isThere = true
            return connection
          } catch (error) {
            // If others succeed, this one may have used a lossy network path. A new attempt takes another path.
            if (!isThere || !isSilence(error) || tries >= openTriesMax) throw error
          }
        }
      }
      const opened = await Promise.allSettled([
        open(limits.databaseCommitMsMax, limits.databaseLockMs),
        open(limits.databaseCommitMsMax, limits.databaseLockRetryMs),
        // A number that is not confirmed by a standby must not be seen, so its commit has no time limit.
        open(0, limits.databaseReadMsMax),
        // Only the prober detects a database that does not answer at all.
        open(0, limits.databaseLockMs, limits.databaseProbeMsMax),
        ...Array.from({ length: limits.databaseReaders }, () =>
          open(limits.databaseReadMsMax, limits.databaseReadMsMax),
        ),
      ])
      const connections = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
      const refused = opened.find((result) => result.status === 'rejected')
      if (refused === undefined) return new Session(host, connections, options)
      for (const connection of connections) connection.lose(refused.reason)
      throw refused.reason
    }
    const session = await hosts.onFirst(openOn)
    hosts.prefer(session.host)
    return session
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

  /**
   * Periodically checks that the database answers over every connection, and that its tables are usable. Resolves when
   * the session is lost.
   *
   * @param report called whenever the reason why the tables are unusable changes; undefined when they are usable again.
   */
  async watch({ databaseProbeMs }: StoreLimits, report: (unusable: unknown) => void): Promise<void> {
    while (!this.lost.aborted) {
      const before = this.#unusable
      this.#unusable = await this.#probe()
      if (messageOf(before) !== messageOf(this.#unusable)) report(this.#unusable)
      await sleep(databaseProbeMs, undefined, { signal: this.lost }).catch(() => {})
    }
  }

  async #probe(): Promise<unknown> {
    try {
      const [silent, unusable] = await Promise.all([this.#silence.find(this.#prober), findUnusable(this.#prober)])
      if (silent !== undefined) this.lose(new Error('a connection is silent, although the database answers'))
      return unusable
    } catch (error) {
      this.lose(error)
      return undefined
    }
  }

  get #all(): readonly Connection[] {
    return [this.changes, this.lockedChanges, this.log, this.#prober, ...this.#readers]
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

  /** @param first a session that was opened with the same options. */
  constructor(first: Session, options: DatabaseOptions) {
    this.#options = options
    this.#session = first
    this.#running = this.#run()
  }

  /** Whether a call would be tried, or wait for a reconnection. */
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
    if (this.#lostAtMs === 0) this.#lostAtMs = this.#options.clock.monotonicMs()
    const graceLeftMs = this.#graceLeftMs()
    const next = graceLeftMs > 0 ? await answerWithin(this.#next.promise, graceLeftMs) : undefined
    if (next !== undefined && !next.value.lost.aborted) return next.value
    throw new AppError('storeAway', 'the database cannot be reached; nothing was done, try again', {
      cause: this.#session.lost.reason,
    })
  }

  /** Closes a session if another host has taken over from its host. The next session starts with the new host. */
  async leaveForSuccessor(session: Session): Promise<void> {
    const { hosts, limits } = this.#options
    await surveyHosts(this.#options, limits.databaseProbeMsMax)
    if (!hosts.isFormer(session.changes.position)) return
    session.lose(new Error('another host has taken over from the one that was in use'))
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
    const { clock, observe } = this.#options
    while (!this.#closing.signal.aborted) {
      await this.#watch(this.#session)
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

  async #watch(session: Session): Promise<void> {
    const { clock, limits, observe } = this.#options
    let sinceMs: number | undefined
    await session.watch(limits, (unusable) => {
      sinceMs ??= clock.monotonicMs()
      if (unusable === undefined) {
        observe({ kind: 'storeBack', awayMs: clock.monotonicMs() - sinceMs })
        sinceMs = undefined
      } else {
        observe({ kind: 'storeAway', cause: unusable })
      }
    })
  }

  async #reopen(): Promise<Session | undefined> {
    const { limits } = this.#options
    const say = this.#sayer(this.#session.lost.reason)
    while (!this.#closing.signal.aborted) {
      try {
        await surveyHosts(this.#options, limits.databaseSurveyMsMax)
        const session = await Session.open(this.#options)
        if (!this.#closing.signal.aborted) return session
        await session.close()
      } catch (cause) {
        say(cause)
        // Jitter, so that the servers of a fleet do not all reconnect at once.
        const pauseMs = limits.databaseRetryMs * (0.5 + Math.random())
        await sleep(pauseMs, undefined, { signal: this.#closing.signal }).catch(() => {})
      }
    }
    return undefined
  }

  /** Reports why the database is unreachable when the reason changes, at a limited rate. */
  #sayer(first: unknown): (cause: unknown) => void {
    const { clock, limits, observe } = this.#options
    let said = messageOf(first)
    let saidAtMs = clock.monotonicMs()
    return (cause) => {
      if (messageOf(cause) === said || clock.monotonicMs() < saidAtMs + limits.databaseReasonMs) return
      said = messageOf(cause)
      saidAtMs = clock.monotonicMs()
      observe({ kind: 'storeAway', cause })
    }
  }
}
