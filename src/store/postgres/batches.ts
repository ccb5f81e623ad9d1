// Batches whose jobs do not fail each other: one of which something is wrong, or that meets a locked row, is found
// among them, by asking for locks or by trying halves.

import type { Clock } from '../../domain/clock.ts'
import { AppError } from '../../domain/errors.ts'
import type { StoreLimits } from '../engine.ts'
import type { Job, Outcome } from '../jobs.ts'
import type { Committer } from './committer.ts'
import { Locked } from './connections/failures.ts'
import type { LockedJobs } from './locked-jobs.ts'

type Awaited = Outcome | Promise<Outcome>

/** Moments of the monotonic clock. */
interface Until {
  /** Past it nothing is tried any more. */
  readonly deadlineMs: number
  /** Past it, single jobs that meet a locked row are not looked for. */
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
   * Commits jobs and gives one outcome each; that of a job that meets a locked row is a promise, as it is set aside.
   *
   * @throws AppError when nothing can be done now, `storeUnavailable` when what was done is not known.
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
      // What keeps a batch from being done keeps its halves, too.
      if (error instanceof AppError) throw error
      const [job] = jobs
      if (jobs.length === 1 && job !== undefined) {
        return [error instanceof Locked ? this.#locked.add(job) : { failed: String(error) }]
      }
      if (error instanceof Locked) {
        // So many of them that to find each would hold up the rest: they are tried one by one, aside.
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

  /** Commits what is not set aside. */
  async #commitRest(jobs: readonly Job[], isAside: readonly boolean[], until: Until): Promise<readonly Awaited[]> {
    const rest = jobs.filter((_, index) => !isAside[index])
    const outcomes = rest.length === 0 ? [] : [...(await this.#commitByHalves(rest, until))]
    return jobs.map((job, index) => (isAside[index] ? this.#locked.add(job) : (outcomes.shift() as Awaited)))
  }

  /** A half that is refused does not take the other one with it. */
  async #commitHalf(jobs: readonly Job[], until: Until): Promise<readonly Awaited[]> {
    try {
      return await this.#commitByHalves(jobs, until)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return jobs.map(() => ({ refused: error }))
    }
  }
}
