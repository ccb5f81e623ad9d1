// The connections of a server to its database form a session. If one connection is lost, or the database stops answering,
// all are closed, and a new session is opened. This is retried indefinitely.

import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, messageOf } from '../../../domain/errors.ts'
import type { DatabaseOptions } from './address.ts'
import { answerWithin, Connection, type Statement } from './connection.ts'
import { refusalOf } from './failures.ts'
import { findUnusable } from './tables.ts'

/** Sessions that have been waiting for their clients for some time, or, without `track_activities`, that wait now. */
const findWaiting: Statement = {
  name: 'findWaitingSessions',
  text: `SELECT pid FROM pg_stat_activity WHERE pid = ANY($1::int4[]) AND wait_event_type = 'Client'
    AND (state_change < clock_timestamp() - $2::int8 * interval '1 ms') IS NOT FALSE`,
}

export interface Session {
  /** For batches of changes. */
  readonly changes: Connection
  /** For changes that met a locked row. */
  readonly lockedChanges: Connection
  /** For the log of changes. */
  readonly log: Connection
  readonly prober: Connection
  readonly readers: readonly Connection[]
  /** Aborted with the cause when a connection is lost, and all others with it. */
  readonly lost: AbortSignal
}

/** Opens all connections. Throws the error of the first one that fails. */
export async function openSession(options: DatabaseOptions): Promise<Session> {
  const { limits } = options
  const lost = new AbortController()
  const open = (statementMsMax: number, lockMsMax: number, answerMsMax = 0): Promise<Connection> => {
    const work = { statementMsMax, lockMsMax, answerMsMax, idleTransactionMsMax: limits.databaseIdleMsMax }
    return Connection.open(options, work, lost)
  }
  const first = [
    open(limits.databaseCommitMsMax, limits.databaseLockMs),
    open(limits.databaseCommitMsMax, limits.databaseLockRetryMs),
    // A number that is not confirmed by a standby must not be seen, so its commit has no time limit.
    open(0, limits.databaseReadMsMax),
    // Only the prober detects a database that does not answer at all.
    open(0, limits.databaseLockMs, limits.databaseProbeMsMax),
  ] as const
  const others = Array.from({ length: limits.databaseReaders }, () =>
    open(limits.databaseReadMsMax, limits.databaseReadMsMax),
  )
  await Promise.allSettled([...first, ...others])
  try {
    const [changes, lockedChanges, log, prober] = await Promise.all(first)
    return { changes, lockedChanges, log, prober, readers: await Promise.all(others), lost: lost.signal }
  } catch (cause) {
    lost.abort(cause)
    throw cause
  }
}

function connectionsOf({ changes, lockedChanges, log, prober, readers }: Session): readonly Connection[] {
  return [changes, lockedChanges, log, prober, ...readers]
}

/**
 * Ends a session if one of its connections loses all packets, which TCP takes 15 minutes to notice: an answer is
 * pending, but PostgreSQL is waiting for the next statement. A slow statement, a lock and a standby are worth waiting
 * for.
 */
async function findSilence(session: Session, silenceMs: number): Promise<void> {
  const isSilent = (connection: Connection): boolean => connection.silentMs >= silenceMs
  const silent = connectionsOf(session).filter(isSilent)
  if (silent.length === 0) return
  const rows = await session.prober.query(findWaiting, [silent.map(({ backendId }) => backendId), silenceMs])
  // An answer may have arrived meanwhile.
  if (silent.some((each) => isSilent(each) && rows.some(([id]) => id === each.backendId)))
    session.prober.lose(new Error('a connection is silent, although the database answers'))
}

export class Sessions {
  readonly #options: DatabaseOptions
  readonly #closing = new AbortController()
  readonly #running: Promise<void>
  #session: Session
  /** Why the connected session is unusable; undefined if it is usable. */
  #unusable: unknown
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
    return this.#unusable === undefined && (!this.#session.lost.aborted || this.#graceLeftMs() > 0)
  }

  /**
   * The current session. If it was lost, waits for the next one during the grace period.
   *
   * @throws AppError `storeAway` if there is none.
   */
  async current(): Promise<Session> {
    if (this.#unusable !== undefined) throw refusalOf('unusable', this.#unusable)
    const { lost } = this.#session
    if (!lost.aborted) return this.#session
    this.#lostAtMs ||= this.#nowMs()
    const graceLeftMs = this.#graceLeftMs()
    const next = graceLeftMs > 0 ? await answerWithin(this.#next.promise, graceLeftMs) : undefined
    if (next !== undefined && !next.value.lost.aborted) return next.value
    throw new AppError('storeAway', 'the database cannot be reached; nothing was done, try again', {
      cause: lost.reason,
    })
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#close(this.#session)
    await this.#running
  }

  async #close(session: Session): Promise<void> {
    await Promise.all(connectionsOf(session).map((connection) => connection.close()))
    session.prober.lose(new Error('the store is closed'))
  }

  #graceLeftMs(): number {
    return this.#options.limits.databaseGraceMs - (this.#lostAtMs === 0 ? 0 : this.#nowMs() - this.#lostAtMs)
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs()
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      await this.#watch(this.#session)
      if (signal.aborted) return
      this.#lostAtMs ||= this.#nowMs()
      this.#report(this.#session.lost.reason)
      const session = await this.#reopen()
      if (session === undefined) return
      this.#report(undefined)
      this.#session = session
      this.#unusable = undefined
      this.#lostAtMs = 0
      this.#next.resolve(session)
      this.#next = Promise.withResolvers()
    }
  }

  /** Until a session is lost, checks that the database answers over every connection, and that its tables are usable. */
  async #watch(session: Session): Promise<void> {
    const { databaseProbeMs, databaseSilenceMs } = this.#options.limits
    const { prober, lost } = session
    while (!lost.aborted) {
      try {
        const [unusable] = await Promise.all([findUnusable(prober), findSilence(session, databaseSilenceMs)])
        this.#unusable = unusable
        if (!lost.aborted) this.#report(unusable)
      } catch (error) {
        prober.lose(error)
      }
      await sleep(databaseProbeMs, undefined, { signal: lost }).catch(() => {})
    }
  }

  /** Returns undefined if the store is closed. */
  async #reopen(): Promise<Session | undefined> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      try {
        const session = await openSession(this.#options)
        if (!signal.aborted) return session
        await this.#close(session)
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
