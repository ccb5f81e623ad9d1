// Batches whose jobs do not fail each other: one of which something is wrong, or that meets a locked row, is found by
// halves.

import type { Clock } from '../../domain/clock.ts'
import { AppError } from '../../domain/errors.ts'
import type { DatabaseLimits } from '../engine.ts'
import type { Job, Outcome } from '../jobs.ts'
import type { Committer } from './committer.ts'
import { Locked } from './failures.ts'
import type { LockedJobs } from './locked-jobs.ts'

type Awaited = Outcome | Promise<Outcome>

export class Batches {
  readonly #committer: Committer
  readonly #locked: LockedJobs
  readonly #clock: Clock
  readonly #limits: DatabaseLimits

  constructor(committer: Committer, locked: LockedJobs, clock: Clock, limits: DatabaseLimits) {
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
    const deadlineMs = this.#clock.monotonicMs() + this.#limits.databaseCommitMsMax
    const isAside = jobs.map((job) => this.#locked.wants(job))
    const rest = jobs.filter((_, index) => !isAside[index])
    const outcomes = rest.length === 0 ? [] : [...(await this.#commitByHalves(rest, deadlineMs))]
    return jobs.map((job, index) => (isAside[index] ? this.#locked.add(job) : (outcomes.shift() as Awaited)))
  }

  async #commitByHalves(jobs: readonly Job[], deadlineMs: number): Promise<readonly Awaited[]> {
    try {
      return await this.#committer.commit(jobs, deadlineMs)
    } catch (error) {
      // What keeps a batch from being done keeps its halves, too.
      if (error instanceof AppError) throw error
      const [job] = jobs
      if (jobs.length === 1 && job !== undefined) {
        return [error instanceof Locked ? this.#locked.add(job) : { failed: String(error) }]
      }
    }
    const middle = Math.ceil(jobs.length / 2)
    return [
      ...(await this.#commitHalf(jobs.slice(0, middle), deadlineMs)),
      ...(await this.#commitHalf(jobs.slice(middle), deadlineMs)),
    ]
  }

  /** A half that is refused does not take the other one with it. */
  async #commitHalf(jobs: readonly Job[], deadlineMs: number): Promise<readonly Awaited[]> {
    try {
      return await this.#commitByHalves(jobs, deadlineMs)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return jobs.map(() => ({ refused: error }))
    }
  }
}
