// This side of the writer thread: starts it, hands it one batch of jobs at a time, and notices when it breaks.

import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { AppError, OperatorError } from '../../domain/errors.ts'
import type { ImportOutcome } from '../../domain/store.ts'
import type { ImportPlantJob, Job, Outcome } from '../jobs.ts'
import { type FileNames, LostFileError } from './file/identity.ts'
import type { FromWriter, RefusalCode, ToWriter, WriterOptions } from './writer-messages.ts'

// The thread's file ends as this one does: .ts in a checkout, .js after a build.
const writerUrl = new URL(`./writer-thread${extname(import.meta.url)}`, import.meta.url)

interface Answer {
  readonly resolve: (outcomes: readonly unknown[]) => void
  readonly reject: (cause: AppError) => void
}

export class WriterThread {
  /** What the files were when they were opened, for FileIdentity. */
  readonly fileNames: FileNames
  readonly #worker: Worker
  readonly #failure = new AbortController()
  /** Resolves once the thread does nothing more with the disk. */
  readonly #ended = Promise.withResolvers<void>()
  #answer: Answer | undefined
  #closing = false

  /**
   * Resolves once the store is open for writing. Throws OperatorError when the file cannot be, a LostFileError when
   * another process removed what lies beside it meanwhile.
   */
  static async start(options: WriterOptions): Promise<WriterThread> {
    const worker = new Worker(writerUrl, { workerData: options, name: 'plantstore-writer' })
    const { promise, resolve, reject } = Promise.withResolvers<FromWriter>()
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('the writer thread ended before the store was open')))
    const first = await promise
    worker.off('error', reject)
    if (first.kind === 'opened') return new WriterThread(worker, first.fileNames)
    await worker.terminate()
    if (first.kind !== 'notOpened') throw new TypeError(`the writer thread began with ${first.kind}`)
    throw first.isLost ? new LostFileError(first.why) : new OperatorError(first.why)
  }

  private constructor(worker: Worker, fileNames: FileNames) {
    this.#worker = worker
    this.fileNames = fileNames
    worker.once('exit', () => {
      this.#ended.resolve()
      if (!this.#closing) this.fail(new Error('the writer thread ended'))
    })
    worker.on('message', (message: FromWriter) => this.#receive(message))
    worker.on('error', (cause) => this.fail(cause))
  }

  /** Aborted, with its cause, once what is on disk is not known any more. */
  get failed(): AbortSignal {
    return this.#failure.signal
  }

  /**
   * Commits a batch of jobs. The one before it must have been answered.
   *
   * @throws AppError `storeFull` or `overloaded` when nothing was done, `storeUnavailable` when the outcome is unknown.
   */
  commit(jobs: readonly Job[]): Promise<readonly Outcome[]> {
    return this.#ask<Outcome>({ kind: 'commit', jobs })
  }

  /** Adds plants to the import's transaction. Throws as `commit` does; after a refusal the transaction is undone. */
  import(jobs: readonly ImportPlantJob[]): Promise<readonly ImportOutcome[]> {
    return this.#ask<ImportOutcome>({ kind: 'import', jobs })
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
   * Closes the file and ends the thread. One that has failed is left as it is once it has kept what it can, for the
   * process has to end.
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

  /** Breaks the store for good. */
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
