// Group commit: jobs that arrive during a commit form the next batch. Independent of SQL and plants.

import { AppError } from '../domain/errors.ts'
import type { Limits } from '../limits.ts'

/** An outcome that is a promise belongs to a job that was set aside; the next batch does not wait for it. */
export type Commit<Job, Outcome> = (jobs: readonly Job[]) => Promise<readonly (Outcome | Promise<Outcome>)[]>

interface QueuedJob<Job, Outcome> {
  readonly job: Job
  readonly resolve: (outcome: Outcome | Promise<Outcome>) => void
  readonly reject: (cause: unknown) => void
}

/**
 * Runs batches of jobs one after another, without a timer: a batch starts as soon as the previous one ends, and a
 * single job does not wait for others. Each job gets exactly one outcome.
 */
export class GroupCommit<Job, Outcome> {
  readonly #commit: Commit<Job, Outcome>
  readonly #limits: Pick<Limits, 'waitingJobsMax' | 'transactionJobsMax'>
  readonly #onCommitted: (jobs: number, durationMs: number) => void
  #waiting: QueuedJob<Job, Outcome>[] = []
  #running: Promise<void> | undefined
  #closed = false

  /**
   * @param commit commits a batch durably and returns one outcome per job, in order. If it rejects, all jobs of the
   * batch reject with the same cause. Waiting jobs do, too, unless the cause is `storeUnavailable`.
   * @param onCommitted called after each batch.
   */
  constructor(
    commit: Commit<Job, Outcome>,
    limits: Pick<Limits, 'waitingJobsMax' | 'transactionJobsMax'>,
    onCommitted: (jobs: number, durationMs: number) => void = () => {},
  ) {
    this.#commit = commit
    this.#limits = limits
    this.#onCommitted = onCommitted
  }

  /** Number of jobs that wait for the current batch. */
  get waiting(): number {
    return this.#waiting.length
  }

  /**
   * Resolves with the job's outcome once its batch is committed.
   *
   * @throws AppError `overloaded` if too many jobs are waiting, `shuttingDown` after `close`.
   */
  submit(job: Job): Promise<Outcome> {
    if (this.#closed) return Promise.reject(new AppError('shuttingDown', 'the server is shutting down'))
    if (this.#waiting.length >= this.#limits.waitingJobsMax) {
      return Promise.reject(new AppError('overloaded', 'too many requests are waiting; nothing was done, try again'))
    }
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
    this.#waiting.push({ job, resolve, reject })
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
      const startedMs = performance.now()
      await this.#runBatch(batch)
      this.#onCommitted(batch.length, performance.now() - startedMs)
    }
    this.#running = undefined
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
