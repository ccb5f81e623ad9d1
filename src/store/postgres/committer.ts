// What happens between a job and its outcome: a batch is committed in one transaction over one connection (`Committer`),
// and jobs are isolated from each other's failures (`Batches`).
//
// A transaction that meets a conflict is tried again. The outcome of a commit whose answer was lost is looked up; it is
// unknown (`unknownOutcome`) only if that fails, too, if no standby confirms it, or if there is no answer in time. A job
// that fails by itself, or meets a locked row, is found by a lock query or by bisection. Jobs that meet a locked row are
// set aside, so that they do not delay others, and retried one by one on a separate connection until they succeed or time
// out.

import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, OperatorError } from '../../domain/errors.ts'
import type { StoreOptions } from '../engine.ts'
import type { Job, Outcome } from '../ledger.ts'
import type { DatabaseOptions } from './connections/address.ts'
import { answerWithin, type Connection, named } from './connections/connection.ts'
import { type Failure, failureOf, Locked, refusalOf, unknownOutcome } from './connections/failures.ts'
import type { Session, Sessions } from './connections/sessions.ts'
import { checkVersion } from './connections/tables.ts'
import { lookUp, makeRowId } from './lost-commits.ts'
import { runBatch } from './transaction.ts'

/** Attempts for a write that skipped rows. Another session may have deleted them meanwhile, but not every time. */
const unwrittenTriesMax = 3

const statements = named({
  findLocked: `WITH free AS MATERIALIZED (SELECT id FROM plants WHERE id = ANY($1::int8[]) FOR UPDATE SKIP LOCKED)
    SELECT id FROM plants WHERE id = ANY($1::int8[]) AND id NOT IN (SELECT id FROM free)`,
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
  #isWaiting = false
  /** Until when creates are looked up first, because one was not new; by the monotonic clock. */
  #lookUpUntilMs = 0

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
    for (let tries = 1; ; tries += 1) {
      if (clock.monotonicMs() >= deadlineMs) throw refusalOf('busy', new Error('there was no time left to try'))
      const connection = await this.#connection()
      const atMs = clock.wallMs()
      const id = makeRowId(atMs)
      // A batch of creates is probably new.
      const areNew = clock.monotonicMs() >= this.#lookUpUntilMs && jobs.every(({ kind }) => kind === 'createPlant')
      let decided: readonly Outcome[] | undefined
      try {
        const running = runBatch(jobs, connection, { ...limits, id, atMs }, areNew, (outcomes) => {
          decided = outcomes
        })
        const outcomes = await this.#inTime(running, connection, deadlineMs)
        connection.assertConfirmed()
        return outcomes
      } catch (error) {
        if (error instanceof AppError) throw error
        const failure = failureOf(error)
        if (failure === 'lost') {
          connection.lose(error)
          // A look-up gets at least the grace period of a lost connection.
          const untilMs = Math.max(deadlineMs, clock.monotonicMs() + limits.databaseGraceMs)
          if (decided !== undefined && (await lookUp(id, this.#options, untilMs))) return decided
        } else {
          await this.#rollBack(error, failure, connection, tries)
        }
      }
      if (tries >= limits.databaseAttemptsMax) throw refusalOf('retry', undefined)
      await sleep(limits.databaseAttemptPauseMs * (tries - 1) * Math.random())
    }
  }

  /**
   * Finds the plants that another session has locked, without an error in the log of the database; all if it has locked
   * the table. Cannot see uncommitted new plants.
   */
  async findLocked(ids: readonly bigint[]): Promise<readonly bigint[]> {
    if (ids.length === 0) return []
    try {
      const connection = await this.#connection()
      const rows = await connection.query(statements.findLocked, [ids])
      return rows.map(([id]) => id as bigint)
    } catch (error) {
      // The next attempt reports any other problem.
      return failureOf(error) === 'locked' ? ids : []
    }
  }

  /**
   * A commit may wait for an unreachable standby indefinitely. The caller does not wait that long. The connection stays
   * open, because PostgreSQL would continue to wait without it, and no other change starts before the answer.
   */
  async #inTime<Result>(running: Promise<Result>, connection: Connection, deadlineMs: number): Promise<Result> {
    const answer = await answerWithin(running, Math.max(deadlineMs - this.#options.clock.monotonicMs(), 0))
    if (answer !== undefined) return answer.value
    this.#isWaiting = true
    // A late failure may leave the transaction open, which would swallow the next one.
    const ended = running.catch(() => connection.command('ROLLBACK')).catch((lost) => connection.lose(lost))
    void ended.then(() => {
      this.#isWaiting = false
    })
    throw unknownOutcome(new Error('the database did not confirm a change in time'))
  }

  async #connection(): Promise<Connection> {
    if (this.#isWaiting) throw refusalOf('busy', new Error('an earlier change is not confirmed yet'))
    return this.#options.connectionOf(await this.#sessions.current())
  }

  /** Rolls back an attempt that failed. Throws unless a retry may succeed. */
  async #rollBack(
    error: unknown,
    failure: Exclude<Failure, 'lost'>,
    connection: Connection,
    tries: number,
  ): Promise<void> {
    const { clock, limits } = this.#options
    // The end of the connection also ends the transaction.
    await connection.command('ROLLBACK').catch((lost) => connection.lose(lost))
    if (failure !== 'locked' && failure !== 'retry') await this.#assertCurrent(connection)
    // The last attempt met a conflict, as all others did.
    if (failure === 'locked' || (failure === 'retry' && tries >= limits.databaseAttemptsMax)) throw new Locked(error)
    if (failure === 'own' || (failure === 'unwritten' && tries >= unwrittenTriesMax)) throw error
    if (failure !== 'retry' && failure !== 'unwritten') throw refusalOf(failure, error)
    this.#lookUpUntilMs = clock.monotonicMs() + limits.databaseLookUpMs
  }

  /** Throws AppError if the tables are newer than this program. */
  async #assertCurrent(connection: Connection): Promise<void> {
    try {
      await checkVersion(connection)
    } catch (cause) {
      // The next attempt reports any other problem.
      if (!(cause instanceof OperatorError)) return
      this.#options.onOutdated(cause)
      throw new AppError('storeUnavailable', 'the store has failed', { cause })
    }
  }
}

/** The outcome of a job that was set aside is a promise. */
type Awaited = Outcome | Promise<Outcome>

export class Batches {
  readonly #committer: Committer
  readonly #asideCommitter: Committer
  readonly #options: Pick<StoreOptions, 'clock' | 'limits'>
  /** Number of jobs that are set aside. They take turns. */
  #aside = 0
  #turn: Promise<Outcome | undefined> = Promise.resolve(undefined)
  /** Until when changes of a plant are set aside immediately, by the monotonic clock. */
  readonly #locked = new Map<bigint, number>()

  /** @param asideCommitter has a connection for the jobs set aside alone, with its own lock timeout. */
  constructor(committer: Committer, asideCommitter: Committer, options: Pick<StoreOptions, 'clock' | 'limits'>) {
    this.#committer = committer
    this.#asideCommitter = asideCommitter
    this.#options = options
  }

  /**
   * Commits jobs and returns one outcome each.
   *
   * @throws AppError `storeUnavailable` if the outcome is unknown, any other code if nothing was done.
   */
  commit(jobs: readonly Job[]): Promise<readonly Awaited[]> {
    return this.#commitUnlocked(jobs, this.#nowMs())
  }

  /** Resolves when no job is set aside. */
  async close(): Promise<void> {
    while (this.#aside > 0) await this.#turn
  }

  /**
   * Sets aside the jobs whose plants were recently locked, and commits the others.
   *
   * @param startedMs when the batch began, by the monotonic clock. Its time limits begin then.
   */
  async #commitUnlocked(jobs: readonly Job[], startedMs: number): Promise<readonly Awaited[]> {
    const isAside = jobs.map((job) => this.#isLocked(job))
    const others = jobs.filter((_, index) => !isAside[index])
    const outcomes = others.length === 0 ? [] : [...(await this.#commitByHalves(others, startedMs))]
    return jobs.map((job, index) => (isAside[index] ? this.#setAside(job) : (outcomes.shift() as Awaited)))
  }

  async #commitByHalves(jobs: readonly Job[], startedMs: number): Promise<readonly Awaited[]> {
    const { databaseCommitMsMax, databaseLockSearchMsMax } = this.#options.limits
    try {
      return await this.#committer.commit(jobs, startedMs + databaseCommitMsMax)
    } catch (error) {
      // It would fail each half, too.
      if (error instanceof AppError) throw error
      if (error instanceof Locked) {
        // Too many to search for without delaying the rest: set all aside, and try them one by one.
        const isLate = this.#nowMs() >= startedMs + databaseLockSearchMsMax
        if (jobs.length === 1 || isLate) return jobs.map((job) => this.#setAside(job))
        const locked = await this.#committer.findLocked(jobs.flatMap((job) => plantOf(job) ?? []))
        for (const id of locked) this.#remember(id)
        if (locked.length > 0) return this.#commitUnlocked(jobs, startedMs)
      } else if (jobs.length === 1) {
        return [{ failed: String(error) }]
      }
    }
    const middle = Math.ceil(jobs.length / 2)
    return [
      ...(await this.#commitHalf(jobs.slice(0, middle), startedMs)),
      ...(await this.#commitHalf(jobs.slice(middle), startedMs)),
    ]
  }

  /** The rejection of one half does not affect the other. */
  async #commitHalf(jobs: readonly Job[], startedMs: number): Promise<readonly Awaited[]> {
    try {
      return await this.#commitByHalves(jobs, startedMs)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return jobs.map(() => ({ refused: error }))
    }
  }

  /** Resolves with the outcome of a job, which is `refused` after a timeout. */
  async #setAside(job: Job): Promise<Outcome> {
    const { databaseLockedJobsMax, databaseLockMsMax } = this.#options.limits
    if (this.#aside >= databaseLockedJobsMax) {
      return { refused: refusalOf('busy', new Error('too many changes wait for locked rows')) }
    }
    this.#aside += 1
    const deadlineMs = this.#nowMs() + databaseLockMsMax
    let outcome: Outcome | undefined
    while (outcome === undefined) {
      const id = plantOf(job)
      if (id !== undefined) this.#remember(id)
      this.#turn = this.#turn.then(() => this.#try(job, deadlineMs))
      outcome = await this.#turn
    }
    this.#aside -= 1
    return outcome
  }

  /** Returns undefined if the row is still locked and the job should be retried. */
  async #try(job: Job, deadlineMs: number): Promise<Outcome | undefined> {
    // A job may time out while others have their turns.
    if (this.#nowMs() >= deadlineMs) return { refused: refusalOf('busy', new Error('a row is locked')) }
    const { databaseCommitMsMax, databaseLockRetryMs } = this.#options.limits
    const id = plantOf(job)
    if (id !== undefined && (await this.#asideCommitter.findLocked([id])).length > 0) {
      await sleep(databaseLockRetryMs)
      return undefined
    }
    try {
      const [outcome] = await this.#asideCommitter.commit([job], this.#nowMs() + databaseCommitMsMax)
      return outcome
    } catch (error) {
      if (error instanceof AppError) return { refused: error }
      return error instanceof Locked ? undefined : { failed: String(error) }
    }
  }

  /** Whether a job needs a plant that was recently locked. */
  #isLocked(job: Job): boolean {
    const id = this.#locked.size === 0 ? undefined : plantOf(job)
    if (id === undefined) return false
    if (this.#nowMs() < (this.#locked.get(id) ?? 0)) return true
    this.#locked.delete(id)
    return false
  }

  #remember(id: bigint): void {
    const { databaseLockedJobsMax, databaseLockMemoryMs } = this.#options.limits
    if (this.#locked.size >= databaseLockedJobsMax) this.#locked.clear()
    this.#locked.set(id, this.#nowMs() + databaseLockMemoryMs)
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs()
  }
}

function plantOf(job: Job): bigint | undefined {
  return 'id' in job && typeof job.id === 'bigint' ? job.id : undefined
}
