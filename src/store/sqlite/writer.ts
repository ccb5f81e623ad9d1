// The main thread's side of the writer thread: starts it, sends it one batch of jobs at a time, and detects failures.

import { setFlagsFromString } from 'node:v8'
import { AppError, OperatorError } from '../../domain/errors.ts'
import type { ImportOutcome } from '../../domain/store.ts'
import type { Job, JobOf, Outcome } from '../jobs.ts'
import { type Identity, LostFileError } from './file/names.ts'
import { Thread } from './thread.ts'
import type { Opened, ToWriter, WriterOptions } from './writer-thread.ts'

/** The space for new objects of the thread, in which V8 collects garbage when it is full. */
const newSpaceMegabytes = 4

export class Writer {
  /** The identity of the files when they were opened. */
  readonly identity: Identity
  readonly #thread: Thread<ToWriter>
  /** Aborted, with the cause, when the state of the disk is unknown. */
  readonly failed: AbortSignal

  /**
   * Resolves when the store is open for writing. Throws OperatorError if the file cannot be opened, and LostFileError
   * if another process removed a file beside it meanwhile.
   */
  static async start(options: WriterOptions): Promise<Writer> {
    // By default, a thread collects garbage after each half megabyte: an eighth of the time of an import.
    setFlagsFromString(`--min-semi-space-size=${newSpaceMegabytes}`)
    const failure = new AbortController()
    const thread: Thread<ToWriter> = new Thread('writer-thread', 'plantstore-writer', options, (cause) => {
      failure.abort(cause instanceof Error ? cause : new Error(String(cause)))
      thread.send({ kind: 'break' })
      return new AppError('storeUnavailable', 'the store has failed; it is not known whether this request was done', {
        cause,
      })
    })
    const opened = await thread.ask<Opened>({ kind: 'open' }).catch(() => {
      throw failure.signal.reason
    })
    if ('identity' in opened) return new Writer(thread, failure.signal, opened.identity)
    await thread.terminate()
    throw opened.isLost ? new LostFileError(opened.why) : new OperatorError(opened.why)
  }

  private constructor(thread: Thread<ToWriter>, failed: AbortSignal, identity: Identity) {
    this.#thread = thread
    this.failed = failed
    this.identity = identity
  }

  /**
   * Commits a batch of jobs. Call it only after the previous batch was answered.
   *
   * @param atMs the time of the changes, by the wall clock.
   * @throws AppError `storeFull` or `overloaded` if nothing was done, `storeUnavailable` if the outcome is unknown.
   */
  commit(jobs: readonly Job[], atMs: number): Promise<readonly Outcome[]> {
    return this.#thread.ask({ kind: 'commit', jobs, atMs })
  }

  /** Adds plants to the transaction of the import. Throws like `commit`, and then rolls back the transaction. */
  import(jobs: readonly JobOf<'importPlant'>[], atMs: number): Promise<readonly ImportOutcome[]> {
    return this.#thread.ask({ kind: 'import', jobs, atMs })
  }

  async commitImport(): Promise<void> {
    await this.#thread.ask({ kind: 'commitImport' })
  }

  async endImport(): Promise<void> {
    await this.#thread.ask({ kind: 'endImport' })
  }

  /**
   * Closes the file and ends the thread. After a failure, only waits until the thread has preserved the log, because
   * the process must exit.
   */
  close(): Promise<void> {
    return this.failed.aborted ? this.#thread.ended : this.#thread.close({ kind: 'close' })
  }

  /** Marks the store as failed, permanently. */
  fail(cause: unknown): void {
    this.#thread.end(cause)
  }
}
