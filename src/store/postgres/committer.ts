// Commits each batch in one transaction, over one connection of a session. Retries after conflicts, enforces a
// deadline, and looks up the outcome of a commit whose answer was lost.

import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, OperatorError } from '../../domain/errors.ts'
import type { Job, Outcome } from '../jobs.ts'
import type { DatabaseOptions } from './connections/address.ts'
import { answerWithin, type Connection, named } from './connections/connection.ts'
import { failureOf, Locked, refusalOf, unknownOutcome } from './connections/failures.ts'
import type { Session, Sessions } from './connections/sessions.ts'
import { LostChanges, lookUp, type Registration, registerConnection, unregisterConnection } from './registrations.ts'
import { type Recall, runBatch } from './transaction.ts'

/**
 * Attempts after rows were silently not written. Another session may have deleted them meanwhile, but not each time.
 */
const unwrittenTriesMax = 3

const statements = named({
  findIds: 'SELECT id FROM plants WHERE id = ANY($1::int8[])',
  findFreeIds: 'SELECT id FROM plants WHERE id = ANY($1::int8[]) FOR UPDATE SKIP LOCKED',
})

export interface CommitterOptions extends DatabaseOptions {
  /** The connection of a session that only this committer uses. */
  readonly connectionOf: (session: Session) => Connection
  /** Called when this program can no longer use the version of the tables. */
  readonly onOutdated: (cause: OperatorError) => void
}

export class Committer {
  readonly #sessions: Sessions
  readonly #options: CommitterOptions
  #session: Session | undefined
  #registration: Registration | undefined
  /** Whether the row of the connection may be gone. */
  #mayBeGone = false
  #isWaiting = false

  constructor(sessions: Sessions, options: CommitterOptions) {
    this.#sessions = sessions
    this.#options = options
  }

  /**
   * Commits a batch atomically and returns one outcome per job. Supports one batch at a time.
   *
   * @throws AppError `storeUnavailable` if the outcome is unknown, any other code if nothing was done and a retry would
   * fail, too; Locked if another session has locked a required row; another Error if one of the jobs is invalid.
   */
  async commit(jobs: readonly Job[], deadlineMs: number): Promise<readonly Outcome[]> {
    const { clock, limits } = this.#options
    const options = { ...limits, atMs: clock.wallMs() }
    for (let tries = 1; ; tries += 1) {
      if (clock.monotonicMs() >= deadlineMs) throw refusalOf('busy', new Error('there was no time left to try'))
      const isLast = tries >= limits.databaseAttemptsMax
      const registration = await this.#register()
      let recall: Recall | undefined
      try {
        if (registration !== undefined) {
          const running = runBatch(jobs, registration, options, (known) => {
            recall = known
          })
          const outcomes = await this.#inTime(running, registration.connection, deadlineMs)
          registration.lastCommit += 1n
          registration.connection.assertConfirmed()
          return outcomes
        }
      } catch (error) {
        const recalled = await this.#recover(error, registration as Registration, recall, tries, deadlineMs)
        if (recalled !== undefined) return recalled
        // Every attempt met a conflict.
        if (isLast && failureOf(error) === 'retry') throw new Locked(error)
      }
      if (isLast) throw refusalOf('retry', undefined)
      await sleep(limits.databaseAttemptPauseMs * tries * Math.random())
    }
  }

  /** Finds the plants that another session has locked. Cannot see uncommitted new plants. */
  async findLocked(ids: readonly bigint[]): Promise<ReadonlySet<bigint>> {
    const connection = this.#registration?.connection
    if (connection === undefined || ids.length === 0 || this.#isWaiting) return new Set()
    try {
      const [there = [], free = []] = await connection.sendTogether(() => [
        connection.query(statements.findIds, [ids]),
        connection.query(statements.findFreeIds, [ids]),
      ])
      const freeIds = new Set(free.map(([id]) => id))
      return new Set(there.flatMap(([id]) => (freeIds.has(id) ? [] : [id as bigint])))
    } catch {
      // The next attempt reports the problem.
      return new Set()
    }
  }

  /** Ensures that changes can be made. Waits for a server that creates the tables. Throws AppError. */
  async register(): Promise<void> {
    const { clock, limits } = this.#options
    const deadlineMs = clock.monotonicMs() + limits.databaseOpenLockMsMax
    while ((await this.#register()) === undefined) {
      if (clock.monotonicMs() >= deadlineMs)
        throw refusalOf('busy', new Error('the tables are locked by another transaction'))
      await sleep(limits.databaseAttemptPauseMs * Math.random())
    }
  }

  /** Deletes the row of the connection if the database is reachable. */
  async close(): Promise<void> {
    if (this.#registration === undefined || this.#session?.lost.aborted || this.#isWaiting) return
    await unregisterConnection(this.#registration)
  }

  /**
   * A commit may wait for an unreachable standby indefinitely. The caller does not wait that long. The connection stays
   * open, because PostgreSQL would continue to wait without it, and no other change starts before the answer.
   */
  async #inTime<Result>(running: Promise<Result>, connection: Connection, deadlineMs: number): Promise<Result> {
    const answer = await answerWithin(running, Math.max(deadlineMs - this.#options.clock.monotonicMs(), 0))
    if (answer !== undefined) return answer.value
    this.#isWaiting = true
    const end = (): void => {
      this.#isWaiting = false
      this.#registration = undefined
    }
    // A late failure may leave the transaction open, which would swallow the next one.
    const undo = (): Promise<void> =>
      connection.command('ROLLBACK').then(end, (lost) => {
        this.#session?.lose(lost)
        end()
      })
    running.then(end, undo)
    throw unknownOutcome(new Error('the database did not confirm a change in time'))
  }

  /** The row of the connection; undefined if the connection was lost or another session held a lock. */
  async #register(): Promise<Registration | undefined> {
    if (this.#isWaiting) throw refusalOf('busy', new Error('an earlier change is not confirmed yet'))
    const session = await this.#sessions.current()
    const { connectionOf, clock, limits, onOutdated } = this.#options
    const former = this.#session === session ? this.#registration : undefined
    if (former !== undefined && !this.#mayBeGone && former.lastCommit < limits.registrationCommitsMax) return former
    this.#session = session
    this.#registration = undefined
    this.#mayBeGone = false
    try {
      this.#registration = await registerConnection(connectionOf(session), clock, former)
      return this.#registration
    } catch (error) {
      if (error instanceof OperatorError) {
        onOutdated(error)
        throw new AppError('storeUnavailable', 'the store has failed', { cause: error })
      }
      const failure = failureOf(error)
      if (failure === 'own') throw new AppError('storeAway', 'the database takes no changes', { cause: error })
      if (failure === 'lost') session.lose(error)
      // The row of plantstore_schema is locked while tables or a first token are being created.
      else if (failure !== 'locked' && failure !== 'retry' && failure !== 'unwritten') throw refusalOf(failure, error)
      return undefined
    }
  }

  /**
   * Returns the outcomes of an attempt that committed despite the error; undefined if nothing was done and a retry may
   * succeed.
   */
  async #recover(
    error: unknown,
    registration: Registration,
    recall: Recall | undefined,
    tries: number,
    deadlineMs: number,
  ): Promise<readonly Outcome[] | undefined> {
    if (error instanceof AppError) throw error
    const failure = failureOf(error)
    if (failure === 'lost') {
      this.#session?.lose(error)
      const takenIds = recall && (await this.#lookUp(registration, deadlineMs))
      return takenIds && recall?.(takenIds)
    }
    this.#mayBeGone = failure === 'unwritten'
    try {
      await registration.connection.command('ROLLBACK')
    } catch (lost) {
      // The lost connection has also ended the transaction.
      this.#session?.lose(lost)
    }
    if (failure === 'locked') throw new Locked(error)
    if (failure === 'own' || (failure === 'unwritten' && tries >= unwrittenTriesMax)) throw error
    if (failure !== 'retry' && failure !== 'unwritten') throw refusalOf(failure, error)
    return undefined
  }

  /** The ids that a committed attempt found taken; undefined if it did not commit and never will. */
  async #lookUp(registration: Registration, deadlineMs: number): Promise<readonly bigint[] | undefined> {
    const { clock, limits, observe } = this.#options
    // A look-up gets at least the grace period of a lost connection.
    const untilMs = Math.max(deadlineMs, clock.monotonicMs() + limits.databaseGraceMs)
    try {
      return await lookUp(registration, this.#options, untilMs)
    } catch (error) {
      if (error instanceof AppError && error.cause instanceof LostChanges) {
        observe({ kind: 'storeWarning', message: error.cause.message })
      }
      throw error
    }
  }
}
