// Commits batches of changes over one connection of each session, each batch in one transaction: tries again what met
// another transaction, keeps to a deadline, and has what became of a commit looked up when its answer was lost.

import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, OperatorError } from '../../domain/errors.ts'
import type { Job, Outcome } from '../jobs.ts'
import { openForBulk } from './connections/bulk.ts'
import type { Connection, Statement } from './connections/connection.ts'
import { answerWithin } from './connections/deadline.ts'
import { failureOf, Locked, refusalOf, unknownOutcome } from './connections/failures.ts'
import type { DatabaseOptions } from './connections/session-options.ts'
import type { Session, Sessions } from './connections/sessions.ts'
import {
  assertConfirmed,
  LostChanges,
  lookUp,
  type Registration,
  registerConnection,
  renewRegistration,
  unregisterConnection,
} from './registrations.ts'
import { type Attempt, beginAttempt, Unregistered, type Work, workOf } from './work.ts'

/**
 * Rows that were not written although nothing failed may have been deleted by another session meanwhile: once, but not
 * thrice.
 */
const unwrittenTriesMax = 3

const findPlants: Statement = { name: 'findIds', text: 'SELECT id FROM plants WHERE id = ANY($1::int8[])' }
const findFreePlants: Statement = {
  name: 'findFreeIds',
  text: 'SELECT id FROM plants WHERE id = ANY($1::int8[]) FOR UPDATE SKIP LOCKED',
}

export interface CommitterOptions extends DatabaseOptions {
  /** The connection of a session that this committer has for itself. */
  readonly connectionOf: (session: Session) => Connection
  /** Told when this program cannot go on with the tables any more. */
  readonly onOutdated: (cause: OperatorError) => void
}

export class Committer {
  readonly #sessions: Sessions
  readonly #options: CommitterOptions
  #session: Session | undefined
  #registration: Registration | undefined
  #isWaiting = false

  constructor(sessions: Sessions, options: CommitterOptions) {
    this.#sessions = sessions
    this.#options = options
  }

  /**
   * Commits a batch as a whole and gives one outcome each. One batch at a time.
   *
   * @throws AppError `storeUnavailable` when the outcome is not known, any other code when nothing was done and nothing
   * can be now; Locked when another session has locked a row that it needs; another Error when something is wrong with
   * one of the jobs.
   */
  async commit(jobs: readonly Job[], deadlineMs: number): Promise<readonly Outcome[]> {
    const { clock, limits } = this.#options
    const work = workOf(jobs, limits.idempotencyKeyMs)
    for (let tries = 1; ; tries += 1) {
      if (clock.monotonicMs() >= deadlineMs) throw refusalOf('busy', new Error('there was no time left to try'))
      const isLast = tries >= limits.databaseAttemptsMax
      const attempt = await this.#begin()
      try {
        if (attempt !== undefined) return await this.#run(work, attempt, deadlineMs)
      } catch (error) {
        const recalled = await this.#recover(error, work, attempt as Attempt, tries, deadlineMs)
        if (recalled !== undefined) return recalled
        // Others were in the way each time.
        if (isLast && failureOf(error) === 'retry') throw new Locked(error)
      }
      if (isLast) throw refusalOf('retry', undefined)
      await sleep(limits.databaseAttemptPauseMs * tries * Math.random())
    }
  }

  /** Those of some plants that another session has locked now, as far as that shows: uncommitted new ones do not. */
  async findLocked(ids: readonly bigint[]): Promise<ReadonlySet<bigint>> {
    const connection = this.#registration?.connection
    if (connection === undefined || ids.length === 0 || this.#isWaiting) return new Set()
    try {
      const [there = [], free = []] = await connection.sendTogether(() => [
        connection.query(findPlants, [ids]),
        connection.query(findFreePlants, [ids]),
      ])
      const freeIds = new Set(free.map(([id]) => id))
      return new Set(there.flatMap(([id]) => (freeIds.has(id) ? [] : [id as bigint])))
    } catch {
      // The next attempt reports what is wrong.
      return new Set()
    }
  }

  /** Makes sure that changes can be made, with patience for a server that makes the tables. Throws AppError. */
  async register(): Promise<void> {
    const { clock, limits } = this.#options
    const deadlineMs = clock.monotonicMs() + limits.databaseOpenLockMsMax
    while ((await this.#begin()) === undefined) {
      if (clock.monotonicMs() >= deadlineMs)
        throw refusalOf('busy', new Error('the tables are locked by another transaction'))
      await sleep(limits.databaseAttemptPauseMs * Math.random())
    }
  }

  /** Deletes the row of the connection, when the database is there. */
  async close(): Promise<void> {
    if (this.#registration === undefined || this.#session?.lost.aborted || this.#isWaiting) return
    await unregisterConnection(this.#registration)
  }

  async #run(work: Work, attempt: Attempt, deadlineMs: number): Promise<readonly Outcome[]> {
    const { registration, number } = attempt
    registration.connection.takeUnconfirmed()
    const outcomes = await this.#inTime(work.run(attempt), registration.connection, deadlineMs)
    registration.lastCommit = number
    assertConfirmed(registration.connection)
    return outcomes
  }

  /**
   * A commit may wait for a standby as long as that is away. Its clients do not; but its connection is kept, as the
   * server would go on waiting without it, and no other change is begun before the answer.
   */
  async #inTime<Result>(running: Promise<Result>, connection: Connection, deadlineMs: number): Promise<Result> {
    const answer = await answerWithin(running, Math.max(deadlineMs - this.#options.clock.monotonicMs(), 0))
    if (answer !== undefined) return answer.value
    this.#isWaiting = true
    const end = (): void => {
      this.#isWaiting = false
      this.#registration = undefined
    }
    // One that fails late may have left its transaction open, in which the next one would be lost.
    const undo = (): Promise<void> =>
      connection.command('ROLLBACK').then(end, (lost) => {
        this.#session?.lose(lost)
        end()
      })
    running.then(end, undo)
    void this.#seekSuccessor(this.#session)
    throw unknownOutcome(new Error('the database did not confirm a change in time'))
  }

  /** For as long as a change is not confirmed: its standbys may have gone over to another host. */
  async #seekSuccessor(session: Session | undefined): Promise<void> {
    const pauseMs = this.#options.limits.databaseProbeMsMax
    while (session !== undefined && this.#isWaiting && !session.lost.aborted) {
      await this.#sessions.leaveForSuccessor(session)
      await sleep(pauseMs, undefined, { signal: session.lost }).catch(() => {})
    }
  }

  /** Prepares an attempt; undefined when that lost the connection, or another session was in the way just then. */
  async #begin(): Promise<Attempt | undefined> {
    if (this.#isWaiting) throw refusalOf('busy', new Error('an earlier change is not confirmed yet'))
    const session = await this.#sessions.current()
    try {
      this.#registration = await this.#register(session)
    } catch (error) {
      if (error instanceof OperatorError) {
        this.#options.onOutdated(error)
        throw new AppError('storeUnavailable', 'the store has failed', { cause: error })
      }
      const failure = failureOf(error)
      if (failure === 'own') throw new AppError('storeAway', 'the database takes no changes', { cause: error })
      // The row that says which tables these are is locked while tables or a first token are being made.
      if (failure === 'locked' || failure === 'retry') return undefined
      if (failure !== 'lost') throw refusalOf(failure, error)
      session.lose(error)
      return undefined
    }
    return beginAttempt(this.#registration)
  }

  async #register(session: Session): Promise<Registration> {
    const { connectionOf, clock, limits } = this.#options
    if (this.#registration !== undefined && this.#session === session) {
      if (this.#registration.lastCommit < limits.registrationCommitsMax) return this.#registration
      const renewed = await renewRegistration(this.#registration, clock)
      if (renewed !== undefined) return renewed
    }
    const registration = await registerConnection(connectionOf(session), clock)
    this.#session = session
    return registration
  }

  /**
   * The outcomes of an attempt that was done all the same. Undefined: nothing was done, and it is worth another try.
   */
  async #recover(
    error: unknown,
    work: Work,
    attempt: Attempt,
    tries: number,
    deadlineMs: number,
  ): Promise<readonly Outcome[] | undefined> {
    if (error instanceof AppError) throw error
    const { connection } = attempt.registration
    const failure = error instanceof Unregistered ? 'retry' : failureOf(error)
    if (failure === 'lost') {
      this.#session?.lose(error)
      return attempt.isCommitSent ? this.#lookUp(work, attempt, deadlineMs) : undefined
    }
    if (error instanceof Unregistered) this.#registration = undefined
    try {
      await connection.command('ROLLBACK')
    } catch (lost) {
      // With its connection the transaction has ended, too.
      this.#session?.lose(lost)
    }
    if (failure === 'locked') throw new Locked(error)
    if (failure === 'own' || (failure === 'unwritten' && tries >= unwrittenTriesMax)) throw error
    if (failure !== 'retry' && failure !== 'unwritten') throw refusalOf(failure, error)
    return undefined
  }

  async #lookUp(
    work: Work,
    { registration, number }: Attempt,
    deadlineMs: number,
  ): Promise<readonly Outcome[] | undefined> {
    const { clock, limits } = this.#options
    try {
      const committed = await lookUp(registration, number, {
        open: () => openForBulk(this.#options),
        clock,
        limits,
        // A look-up always gets the time that a lost connection is given.
        deadlineMs: Math.max(deadlineMs, clock.monotonicMs() + limits.databaseGraceMs),
      })
      return committed && work.recall(committed)
    } catch (error) {
      if (error instanceof AppError && error.cause instanceof LostChanges) {
        this.#options.observe({ kind: 'storeWarning', message: error.cause.message })
      }
      throw error
    }
  }
}
