// Isolates the jobs of a batch from each other's failures. A job that fails by itself, or meets a locked row, is found
// by a lock query or by bisection.

import type { Clock } from '../../domain/clock.ts'
import { AppError } from '../../domain/errors.ts'
import type { StoreLimits } from '../engine.ts'
import type { Job, Outcome } from '../jobs.ts'
import type { Committer } from './committer.ts'
import { Locked } from './connections/failures.ts'
import type { LockedJobs } from './locked-jobs.ts'

type Awaited = Outcome | Promise<Outcome>

/** Deadlines, by the monotonic clock. */
interface Until {
  /** The end of all attempts. */
  readonly deadlineMs: number
  /** The end of the search for jobs that meet locked rows. */
  readonly searchMs: number
}

export class Batches {
  readonly #committer: Committer
  readonly #locked: LockedJobs
  readonly #clock: Clock
  readonly #limits: StoreLimits

  constructor(committer: Committer, locked: LockedJobs, clock: Clock, limits: StoreLimits) {
    this.#committer = committer
    this.#locked = locked
    this.#clock = clock
    this.#limits = limits
  }

  /**
   * Commits jobs and returns one outcome each. A job that meets a locked row is set aside; its outcome is a promise.
   *
   * @throws AppError `storeUnavailable` if the outcome is unknown, any other code if nothing was done.
   */
  async commit(jobs: readonly Job[]): Promise<readonly Awaited[]> {
    const startedMs = this.#clock.monotonicMs()
    const until = {
      deadlineMs: startedMs + this.#limits.databaseCommitMsMax,
      searchMs: startedMs + this.#limits.databaseLockSearchMsMax,
    }
    const isAside = jobs.map((job) => this.#locked.wants(job))
    return this.#commitRest(jobs, isAside, until)
  }

  async #commitByHalves(jobs: readonly Job[], until: Until): Promise<readonly Awaited[]> {
    try {
      return await this.#committer.commit(jobs, until.deadlineMs)
    } catch (error) {
      // It would fail each half, too.
      if (error instanceof AppError) throw error
      const [job] = jobs
      if (jobs.length === 1 && job !== undefined) {
        return [error instanceof Locked ? this.#locked.add(job) : { failed: String(error) }]
      }
      if (error instanceof Locked) {
        // Too many to search for without delaying the rest: set all aside, to be tried one by one.
        if (this.#clock.monotonicMs() >= until.searchMs) return jobs.map((each) => this.#locked.add(each))
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
    const ids = jobs.map((job) => ('id' in job && typeof job.id === 'bigint' ? job.id : undefined))
    const locked = await this.#committer.findLocked(ids.filter((id) => id !== undefined))
    return ids.map((id) => id !== undefined && locked.has(id))
  }

  /** Commits the jobs that are not set aside. */
  async #commitRest(jobs: readonly Job[], isAside: readonly boolean[], until: Until): Promise<readonly Awaited[]> {
    const rest = jobs.filter((_, index) => !isAside[index])
    const outcomes = rest.length === 0 ? [] : [...(await this.#commitByHalves(rest, until))]
    return jobs.map((job, index) => (isAside[index] ? this.#locked.add(job) : (outcomes.shift() as Awaited)))
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
}
