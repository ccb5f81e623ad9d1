// The main thread's side of the writer thread: starts it, sends it one batch of jobs at a time, and detects failures.

import { extname } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { AppError, OperatorError } from '../../domain/errors.ts'
import type { ImportOutcome } from '../../domain/store.ts'
import type { Job, JobOf, Outcome } from '../jobs.ts'
import { type Identity, LostFileError } from './file/names.ts'
import type { FromWriter, RefusalCode, ToWriter, WriterOptions } from './writer-messages.ts'

// .ts in a checkout, .js after a build.
const writerUrl = new URL(`./writer-thread${extname(import.meta.url)}`, import.meta.url)

/** The space for new objects of the thread, in which V8 collects garbage when it is full. */
const newSpaceMegabytes = 4

interface Answer {
  readonly resolve: (outcomes: readonly unknown[]) => void
  readonly reject: (cause: AppError) => void
}

export class WriterThread {
  /** The identity of the files when they were opened. */
  readonly identity: Identity
  readonly #worker: Worker
  readonly #failure = new AbortController()
  /** Resolves when the thread no longer accesses the disk. */
  readonly #ended = Promise.withResolvers<void>()
  #answer: Answer | undefined
  #closing = false

  /**
   * Resolves when the store is open for writing. Throws OperatorError if the file cannot be opened, and LostFileError
   * if another process removed a file beside it meanwhile.
   */
  static async start(options: WriterOptions): Promise<WriterThread> {
    // By default, a thread collects garbage after each half megabyte: an eighth of the time of an import.
    setFlagsFromString(`--min-semi-space-size=${newSpaceMegabytes}`)
    const worker = new Worker(writerUrl, { workerData: options, name: 'plantstore-writer' })
    const { promise, resolve, reject } = Promise.withResolvers<FromWriter>()
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('the writer thread ended before the store was open')))
    const first = await promise
    worker.off('error', reject)
    if (first.kind === 'opened') return new WriterThread(worker, first.identity)
    await worker.terminate()
    if (first.kind !== 'notOpened') throw new TypeError(`the writer thread began with ${first.kind}`)
    throw first.isLost ? new LostFileError(first.why) : new OperatorError(first.why)
  }

  private constructor(worker: Worker, identity: Identity) {
    this.#worker = worker
    this.identity = identity
    worker.once('exit', () => {
      this.#ended.resolve()
      if (!this.#closing) this.fail(new Error('the writer thread ended'))
    })
    worker.on('message', (message: FromWriter) => this.#receive(message))
    worker.on('error', (cause) => this.fail(cause))
  }

  /** Aborted, with the cause, when the state of the disk is unknown. */
  get failed(): AbortSignal {
    return this.#failure.signal
  }

  /**
   * Commits a batch of jobs. Call it only after the previous batch was answered.
   *
   * @param atMs the time of the changes, by the wall clock.
   * @throws AppError `storeFull` or `overloaded` if nothing was done, `storeUnavailable` if the outcome is unknown.
   */
  commit(jobs: readonly Job[], atMs: number): Promise<readonly Outcome[]> {
    return this.#ask<Outcome>({ kind: 'commit', jobs, atMs })
  }

  /** Adds plants to the transaction of the import. Throws like `commit`, and then rolls back the transaction. */
  import(jobs: readonly JobOf<'importPlant'>[], atMs: number): Promise<readonly ImportOutcome[]> {
    return this.#ask<ImportOutcome>({ kind: 'import', jobs, atMs })
  }

  async commitImport(): Promise<void> {
    await this.#ask({ kind: 'commitImport' })
  }

  async endImport(): Promise<void> {
    await this.#ask({ kind: 'endImport' })
  }

  #ask<Outcome>(message: ToWriter): Promise<readonly Outcome[]> {
    if (this.#answer !== undefined) throw new TypeError('the writer thread does one thing after the other')
    if (this.failed.aborted) return Promise.reject(unavailable(this.failed.reason))
    const { promise, resolve, reject } = Promise.withResolvers<readonly unknown[]>()
    this.#answer = { resolve, reject }
    this.#send(message)
    return promise as Promise<readonly Outcome[]>
  }

  /**
   * Closes the file and ends the thread. After a failure, only waits until the thread has preserved the log, because
   * the process must exit.
   */
  close(): Promise<void> {
    if (!this.failed.aborted && !this.#closing) {
      this.#closing = true
      this.#send({ kind: 'close' })
    }
    return this.#ended.promise
  }

  #send(message: ToWriter): void {
    this.#worker.postMessage(message)
  }

  #receive(message: FromWriter): void {
    const answer = this.#answer
    this.#answer = undefined
    switch (message.kind) {
      case 'done':
        answer?.resolve(message.outcomes)
        return
      case 'refused':
        answer?.reject(refusal(message.code, message.error))
        return
      case 'broken':
        this.#answer = answer
        this.#ended.resolve()
        this.fail(message.error)
        return
      default:
        throw new TypeError(`the writer thread sent ${message.kind} after it was open`)
    }
  }

  /** Marks the store as failed, permanently. */
  fail(cause: unknown): void {
    if (this.failed.aborted) return
    this.#failure.abort(cause instanceof Error ? cause : new Error(String(cause)))
    this.#send({ kind: 'break' })
    this.#answer?.reject(unavailable(cause))
    this.#answer = undefined
  }
}

function refusal(code: RefusalCode, cause: unknown): AppError {
  const messages: Readonly<Record<RefusalCode, string>> = {
    storeFull: 'the disk of the store is full; nothing was done',
    overloaded: 'the file of the store is busy; nothing was done, try again',
    storeUnavailable: 'the disk of the store is full; it is not known whether this request was done',
  }
  return new AppError(code, messages[code], { cause })
}

function unavailable(cause: unknown): AppError {
  return new AppError('storeUnavailable', 'the store has failed; it is not known whether this request was done', {
    cause,
  })
}
