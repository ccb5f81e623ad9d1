// Group commit: jobs that arrive during a commit form the next batch. Independent of SQL and plants.

import { systemClock, type Timer } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import type { Limits } from '../limits.ts'

/** An outcome that is a promise belongs to a job that was set aside; the next batch does not wait for it. */
export type Commit<Job, Outcome> = (jobs: readonly Job[]) => Promise<readonly (Outcome | Promise<Outcome>)[]>

type GroupLimits = Pick<Limits, 'waitingJobsMax' | 'transactionJobsMax' | 'gatheringMsMax'>

interface QueuedJob<Job, Outcome> {
  readonly job: Job
  readonly resolve: (outcome: Outcome | Promise<Outcome>) => void
  readonly reject: (cause: unknown) => void
}

/** How long a batch waits for the callers whose jobs were just committed, as a share of that commit. */
const gatheringShare = 0.5
/** A shorter wait is not worth a timer, whose precision is a millisecond. */
const gatheringMsMin = 1
/** Share of these callers that must come back in that time. */
const returningShare = 0.75
/** If fewer come back, so many batches do not wait. */
const batchesWithoutGathering = 20

/**
 * Runs batches of jobs one after another. A batch starts as soon as the previous one ends, and a single job does not
 * wait for others. But if callers send their next job as soon as they have an answer, half of them would always wait
 * for the commit of the other half. So a batch waits a moment for those who were just answered. Each job gets exactly
 * one outcome.
 */
export class GroupCommit<Job, Outcome> {
  readonly #commit: Commit<Job, Outcome>
  readonly #limits: GroupLimits
  readonly #onCommitted: (jobs: number, durationMs: number) => void
  readonly #timer: Timer
  #waiting: QueuedJob<Job, Outcome>[] = []
  #running: Promise<void> | undefined
  #closed = false
  /** Resolves when `jobs` are waiting. */
  #gathering: { readonly jobs: number; readonly resolve: (isComplete: boolean) => void } | undefined
  #batchesWithoutGathering = 0

  /**
   * @param commit commits a batch durably and returns one outcome per job, in order. If it rejects, all jobs of the
   * batch reject with the same cause. Waiting jobs do, too, unless the cause is `storeUnavailable`.
   * @param onCommitted called after each batch.
   */
  constructor(
    commit: Commit<Job, Outcome>,
    limits: GroupLimits,
    onCommitted: (jobs: number, durationMs: number) => void = () => {},
    timer: Timer = systemClock,
  ) {
    this.#commit = commit
    this.#limits = limits
    this.#onCommitted = onCommitted
    this.#timer = timer
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Resolves once the job's batch is committed. Throws AppError `overloaded`, or `shuttingDown` after `close`. */
  submit(job: Job): Promise<Outcome> {
    if (this.#closed) return Promise.reject(new AppError('shuttingDown', 'the server is shutting down'))
    if (this.#waiting.length >= this.#limits.waitingJobsMax) {
      return Promise.reject(new AppError('overloaded', 'too many requests are waiting; nothing was done, try again'))
    }
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
    this.#waiting.push({ job, resolve, reject })
    if (this.#waiting.length === this.#gathering?.jobs) this.#gathering.resolve(true)
    this.#running ??= this.#run()
    return promise
  }

  /** Rejects new jobs, and resolves when all waiting jobs are done. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#running
  }

  async #run(): Promise<void> {
    // The first batch includes all requests read in this turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#limits.transactionJobsMax)
      const startedMs = this.#timer.monotonicMs()
      await this.#runBatch(batch)
      const durationMs = this.#timer.monotonicMs() - startedMs
      this.#onCommitted(batch.length, durationMs)
      await this.#gather(batch.length, durationMs * gatheringShare)
    }
    this.#running = undefined
  }

  /** Waits for callers who were just answered, if others wait already. */
  async #gather(answered: number, ms: number): Promise<void> {
    const { transactionJobsMax, gatheringMsMax } = this.#limits
    const jobs = Math.min(this.#waiting.length + Math.ceil(answered * returningShare), transactionJobsMax)
    if (this.#waiting.length === 0 || this.#waiting.length >= jobs || ms < gatheringMsMin || this.#closed) return
    if (this.#batchesWithoutGathering > 0) {
      this.#batchesWithoutGathering -= 1
      return
    }
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const cancel = this.#timer.after(Math.min(ms, gatheringMsMax), () => resolve(false))
    this.#gathering = { jobs, resolve }
    if (!(await promise)) this.#batchesWithoutGathering = batchesWithoutGathering
    this.#gathering = undefined
    cancel()
  }

  async #runBatch(batch: readonly QueuedJob<Job, Outcome>[]): Promise<void> {
    try {
      const outcomes = await this.#commit(batch.map(({ job }) => job))
      if (outcomes.length !== batch.length) {
        throw new TypeError(`a commit of ${batch.length} jobs gave ${outcomes.length} outcomes`)
      }
      batch.forEach(({ resolve }, index) => {
        resolve(outcomes[index] as Outcome)
      })
    } catch (cause) {
      for (const { reject } of batch) reject(cause)
      // The waiting jobs would fail for the same reason, only later. After an unknown outcome, they are still tried.
      if (cause instanceof AppError && cause.code === 'storeUnavailable') return
      for (const { reject } of this.#waiting.splice(0)) reject(cause)
    }
  }
}
