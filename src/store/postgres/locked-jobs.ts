// Changes of plants that another session has locked. They are set aside so that they do not delay other changes, and
// retried one by one on a separate connection until they succeed or time out.

import type { Clock } from '../../domain/clock.ts'
import { AppError } from '../../domain/errors.ts'
import type { StoreLimits } from '../engine.ts'
import type { Job, Outcome } from '../jobs.ts'
import type { Committer } from './committer.ts'
import { Locked, refusalOf } from './connections/failures.ts'

interface QueuedJob {
  readonly job: Job
  readonly deadlineMs: number
  readonly resolve: (outcome: Outcome) => void
}

export class LockedJobs {
  readonly #committer: Committer
  readonly #clock: Clock
  readonly #limits: StoreLimits
  readonly #queue: QueuedJob[] = []
  /** Until when changes of a plant are set aside immediately, by the monotonic clock. */
  readonly #remembered = new Map<bigint, number>()
  #running: Promise<void> | undefined

  /** @param committer has a connection for these jobs alone, with its own lock timeout. */
  constructor(committer: Committer, clock: Clock, limits: StoreLimits) {
    this.#committer = committer
    this.#clock = clock
    this.#limits = limits
  }

  /** Whether a job needs a plant that was recently locked. */
  wants(job: Job): boolean {
    if (this.#remembered.size === 0 || !('id' in job) || typeof job.id !== 'bigint') return false
    const untilMs = this.#remembered.get(job.id)
    if (untilMs === undefined) return false
    if (this.#clock.monotonicMs() < untilMs) return true
    this.#remembered.delete(job.id)
    return false
  }

  /** Resolves with the outcome of a job, which is `refused` after a timeout. */
  add(job: Job): Promise<Outcome> {
    if (this.#queue.length >= this.#limits.databaseLockedJobsMax) {
      return Promise.resolve({ refused: refusalOf('busy', new Error('too many changes wait for locked rows')) })
    }
    this.#remember(job)
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    this.#queue.push({ job, deadlineMs: this.#clock.monotonicMs() + this.#limits.databaseLockMsMax, resolve })
    this.#running ??= this.#run()
    return promise
  }

  /** Resolves when no job is waiting. */
  async close(): Promise<void> {
    await this.#running
    await this.#committer.close()
  }

  async #run(): Promise<void> {
    for (let waiting = this.#queue.shift(); waiting !== undefined; waiting = this.#queue.shift()) {
      const outcome = await this.#try(waiting)
      if (outcome === undefined) this.#queue.push(waiting)
      else waiting.resolve(outcome)
    }
    this.#running = undefined
  }

  /** Returns undefined if the row is still locked and the job should be retried. */
  async #try({ job, deadlineMs }: QueuedJob): Promise<Outcome | undefined> {
    // A job may time out in the queue.
    if (this.#clock.monotonicMs() >= deadlineMs) return { refused: refusalOf('busy', new Error('a row is locked')) }
    try {
      const commitDeadlineMs = this.#clock.monotonicMs() + this.#limits.databaseCommitMsMax
      const [outcome] = await this.#committer.commit([job], commitDeadlineMs)
      return outcome
    } catch (error) {
      if (error instanceof AppError) return { refused: error }
      if (!(error instanceof Locked)) return { failed: String(error) }
      this.#remember(job)
      return undefined
    }
  }

  #remember(job: Job): void {
    if (!('id' in job) || typeof job.id !== 'bigint') return
    if (this.#remembered.size >= this.#limits.databaseLockedJobsMax) this.#remembered.clear()
    this.#remembered.set(job.id, this.#clock.monotonicMs() + this.#limits.databaseLockMemoryMs)
  }
}
