// Isolates the jobs of a batch from each other's failures. A job that fails by itself, or meets a locked row, is found by
// a lock query or by bisection. Jobs that meet a locked row are set aside, so that they do not delay others, and retried
// one by one on a separate connection until they succeed or time out.

import { AppError } from '../../domain/errors.ts'
import type { StoreOptions } from '../engine.ts'
import type { Job, Outcome } from '../jobs.ts'
import type { Committer } from './committer.ts'
import { Locked, refusalOf } from './connections/failures.ts'

/** The outcome of a job that was set aside is a promise. */
type Awaited = Outcome | Promise<Outcome>

/** Deadlines, by the monotonic clock. */
interface Until {
  /** The end of all attempts. */
  readonly deadlineMs: number
  /** The end of the search for jobs that meet locked rows. */
  readonly searchMs: number
}

interface AsideJob {
  readonly job: Job
  readonly deadlineMs: number
  readonly resolve: (outcome: Outcome) => void
}

export class Batches {
  readonly #committer: Committer
  readonly #asideCommitter: Committer
  readonly #options: Pick<StoreOptions, 'clock' | 'limits'>
  readonly #aside: AsideJob[] = []
  /** Until when changes of a plant are set aside immediately, by the monotonic clock. */
  readonly #locked = new Map<bigint, number>()
  #running: Promise<void> | undefined

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
  async commit(jobs: readonly Job[]): Promise<readonly Awaited[]> {
    const { databaseCommitMsMax, databaseLockSearchMsMax } = this.#options.limits
    const startedMs = this.#nowMs()
    const until = { deadlineMs: startedMs + databaseCommitMsMax, searchMs: startedMs + databaseLockSearchMsMax }
    const isAside = jobs.map((job) => this.#isLocked(job))
    return this.#commitRest(jobs, isAside, until)
  }

  /** Resolves when no job is set aside. */
  async close(): Promise<void> {
    await this.#running
    await Promise.all([this.#committer.close(), this.#asideCommitter.close()])
  }

  async #commitByHalves(jobs: readonly Job[], until: Until): Promise<readonly Awaited[]> {
    try {
      return await this.#committer.commit(jobs, until.deadlineMs)
    } catch (error) {
      // It would fail each half, too.
      if (error instanceof AppError) throw error
      const [job] = jobs
      if (jobs.length === 1 && job !== undefined) {
        return [error instanceof Locked ? this.#setAside(job) : { failed: String(error) }]
      }
      if (error instanceof Locked) {
        // Too many to search for without delaying the rest: set all aside, to be tried one by one.
        if (this.#nowMs() >= until.searchMs) return jobs.map((each) => this.#setAside(each))
        const isLocked = await this.#whichAreLocked(jobs)
        if (isLocked.includes(true)) return this.#commitRest(jobs, isLocked, until)
      }
    }
    const middle = Math.ceil(jobs.length / 2)
    return [
      ...(await this.#commitHalf(jobs.slice(0, middle), until)),
      ...(await this.#commitHalf(jobs.slice(middle), until)),
    ]
  }

  async #whichAreLocked(jobs: readonly Job[]): Promise<readonly boolean[]> {
    const ids = jobs.map(plantOf)
    const locked = await this.#committer.findLocked(ids.filter((id) => id !== undefined))
    return ids.map((id) => id !== undefined && locked.has(id))
  }

  /** Commits the jobs that are not set aside. */
  async #commitRest(jobs: readonly Job[], isAside: readonly boolean[], until: Until): Promise<readonly Awaited[]> {
    const rest = jobs.filter((_, index) => !isAside[index])
    const outcomes = rest.length === 0 ? [] : [...(await this.#commitByHalves(rest, until))]
    return jobs.map((job, index) => (isAside[index] ? this.#setAside(job) : (outcomes.shift() as Awaited)))
  }

  /** The rejection of one half does not affect the other. */
  async #commitHalf(jobs: readonly Job[], until: Until): Promise<readonly Awaited[]> {
    try {
      return await this.#commitByHalves(jobs, until)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return jobs.map(() => ({ refused: error }))
    }
  }

  /** Whether a job needs a plant that was recently locked. */
  #isLocked(job: Job): boolean {
    const id = this.#locked.size === 0 ? undefined : plantOf(job)
    const untilMs = id === undefined ? undefined : this.#locked.get(id)
    if (id === undefined || untilMs === undefined) return false
    if (this.#nowMs() < untilMs) return true
    this.#locked.delete(id)
    return false
  }

  /** Resolves with the outcome of a job, which is `refused` after a timeout. */
  #setAside(job: Job): Promise<Outcome> {
    const { databaseLockedJobsMax, databaseLockMsMax } = this.#options.limits
    if (this.#aside.length >= databaseLockedJobsMax) {
      return Promise.resolve({ refused: refusalOf('busy', new Error('too many changes wait for locked rows')) })
    }
    this.#remember(job)
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    this.#aside.push({ job, deadlineMs: this.#nowMs() + databaseLockMsMax, resolve })
    this.#running ??= this.#runAside()
    return promise
  }

  async #runAside(): Promise<void> {
    for (let aside = this.#aside.shift(); aside !== undefined; aside = this.#aside.shift()) {
      const outcome = await this.#try(aside)
      if (outcome === undefined) this.#aside.push(aside)
      else aside.resolve(outcome)
    }
    this.#running = undefined
  }

  /** Returns undefined if the row is still locked and the job should be retried. */
  async #try({ job, deadlineMs }: AsideJob): Promise<Outcome | undefined> {
    // A job may time out in the queue.
    if (this.#nowMs() >= deadlineMs) return { refused: refusalOf('busy', new Error('a row is locked')) }
    try {
      const [outcome] = await this.#asideCommitter.commit(
        [job],
        this.#nowMs() + this.#options.limits.databaseCommitMsMax,
      )
      return outcome
    } catch (error) {
      if (error instanceof AppError) return { refused: error }
      if (!(error instanceof Locked)) return { failed: String(error) }
      this.#remember(job)
      return undefined
    }
  }

  #remember(job: Job): void {
    const { databaseLockedJobsMax, databaseLockMemoryMs } = this.#options.limits
    const id = plantOf(job)
    if (id === undefined) return
    if (this.#locked.size >= databaseLockedJobsMax) this.#locked.clear()
    this.#locked.set(id, this.#nowMs() + databaseLockMemoryMs)
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs()
  }
}

/** The plant that a job needs. */
function plantOf(job: Job): bigint | undefined {
  return 'id' in job && typeof job.id === 'bigint' ? job.id : undefined
}
