// Requests to a worker thread, which answers them in their order, by structured clone.

import { extname } from 'node:path'
import { parentPort, Worker } from 'node:worker_threads'
import { AppError, type ErrorCode } from '../../domain/errors.ts'

export type FromThread =
  /** The answer to a request. */
  | { readonly answer: unknown }
  /** A request failed. Without the code and message of an AppError, the store fails, too. */
  | { readonly error: unknown; readonly code?: ErrorCode; readonly message?: string }
  /** The thread stops working, for this reason. */
  | { readonly stopped: unknown }

export function send(message: FromThread, transferred: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transferred)
}

export class Thread<Request> {
  readonly #worker: Worker
  readonly #onEnd: (cause: unknown) => AppError
  readonly #asked: PromiseWithResolvers<unknown>[] = []
  readonly #ended = Promise.withResolvers<void>()
  readonly #failure = new AbortController()
  #error: AppError | undefined
  #isClosing = false

  /**
   * @param file the module of the thread, in this folder, without its extension.
   * @param onEnd called once if the thread ends or is no longer usable; returns the error of unanswered requests.
   */
  constructor(file: string, name: string, workerData: unknown, onEnd: (cause: unknown) => AppError) {
    this.#onEnd = onEnd
    // .ts in a checkout, .js after a build.
    const url = new URL(`./${file}${extname(import.meta.url)}`, import.meta.url)
    this.#worker = new Worker(url, { workerData, name })
    this.#worker.on('message', (message: FromThread) => this.#receive(message))
    this.#worker.on('error', (cause) => this.end(cause))
    this.#worker.on('exit', () => {
      this.#ended.resolve()
      if (!this.#isClosing) this.end(new Error(`the thread ${name} ended`))
    })
  }

  /** Aborted, with the cause, when the thread is no longer usable. */
  get failed(): AbortSignal {
    return this.#failure.signal
  }

  /** Rejects with an AppError that the thread sent, or with that of `onEnd`. */
  ask<Answer>(request: Request): Promise<Answer> {
    if (this.#error !== undefined) return Promise.reject(this.#error)
    const asked = Promise.withResolvers<unknown>()
    this.#asked.push(asked)
    this.send(request)
    return asked.promise as Promise<Answer>
  }

  /** Sends a request that has no answer. */
  send(request: Request): void {
    this.#worker.postMessage(request)
  }

  /** Makes the thread unusable: rejects unanswered and later requests. */
  end(cause: unknown): void {
    if (this.#error !== undefined) return
    this.#failure.abort(cause instanceof Error ? cause : new Error(String(cause)))
    this.#error = this.#onEnd(cause)
    for (const { reject } of this.#asked.splice(0)) reject(this.#error)
  }

  /** Sends the last request, and waits until the thread has ended, or stopped working. One that failed is only awaited. */
  close(request: Request): Promise<void> {
    if (!this.#isClosing && !this.failed.aborted) this.send(request)
    this.#isClosing = true
    return this.#ended.promise
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate()
  }

  #receive(message: FromThread): void {
    if ('stopped' in message) {
      this.#ended.resolve()
      this.end(message.stopped)
      return
    }
    const asked = this.#asked.shift()
    if ('answer' in message) asked?.resolve(message.answer)
    else if (message.code === undefined) asked?.reject(message.error)
    else asked?.reject(new AppError(message.code, message.message ?? '', { cause: message.error }))
  }
}
