// Group commit: jobs that arrive while a commit is under way form the next one. It knows neither SQL nor plants.

import { AppError } from '../domain/errors.ts'

export interface GroupCommitLimits {
  /** Jobs that may wait for a commit. */
  readonly waitingJobsMax: number
  /** Jobs in one commit. */
  readonly transactionJobsMax: number
}

/** A job whose outcome is a promise has been set aside: the next batch does not wait for it. */
export type Commit<Job, Outcome> = (jobs: readonly Job[]) => Promise<readonly (Outcome | Promise<Outcome>)[]>

interface QueuedJob<Job, Outcome> {
  readonly job: Job
  readonly resolve: (outcome: Outcome | Promise<Outcome>) => void
  readonly reject: (cause: unknown) => void
}

/**
 * Runs jobs in batches, one at a time, each as soon as the one before it is done; a lone job waits for nothing.
 * There is no timer. Each job gets exactly one outcome, its own.
 */
export class GroupCommit<Job, Outcome> {
  readonly #commit: Commit<Job, Outcome>
  readonly #limits: GroupCommitLimits
  readonly #onCommitted: (jobs: number, durationMs: number) => void
  #waiting: QueuedJob<Job, Outcome>[] = []
  #running: Promise<void> | undefined
  #closed = false

  /**
   * @param commit does a batch of jobs durably and gives one outcome a job, in the same order; when it rejects, every
   * job of the batch is rejected with the same cause, and so is every one that waits, unless the outcome is not known.
   * @param onCommitted told of each batch once it has its outcomes.
   */
  constructor(
    commit: Commit<Job, Outcome>,
    limits: GroupCommitLimits,
    onCommitted: (jobs: number, durationMs: number) => void = () => {},
  ) {
    this.#commit = commit
    this.#limits = limits
    this.#onCommitted = onCommitted
  }

  /** Jobs that wait for the batch before them. */
  get waiting(): number {
    return this.#waiting.length
  }

  /**
   * Resolves with the job's outcome once its batch is committed.
   *
   * @throws AppError `overloaded` when too many jobs are waiting, `shuttingDown` after `close`.
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

  /** Refuses new jobs and resolves once those that wait are done. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#running
  }

  async #run(): Promise<void> {
    // Requests that the event loop read in the same turn share the first batch, too.
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
      // What kept a batch from being done keeps those behind it, too: they would only wait longer. But of what is not
      // known to be done, nothing has been tried yet behind it.
      if (cause instanceof AppError && cause.code === 'storeUnavailable') return
      for (const { reject } of this.#waiting.splice(0)) reject(cause)
    }
  }
}
