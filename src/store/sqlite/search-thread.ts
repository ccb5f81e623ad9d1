// This side of the search thread: searches by name, which may look at many plants, do not keep other requests waiting.

import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { AppError } from '../../domain/errors.ts'
import type { PlantPage, PlantQuery } from '../../domain/store.ts'
import type { FromSearch, SearchOptions } from './messages.ts'

// The thread's file ends as this one does: .ts in a checkout, .js after a build.
const searchUrl = new URL(`./search${extname(import.meta.url)}`, import.meta.url)

interface Waiting {
  readonly resolve: (page: PlantPage) => void
  readonly reject: (cause: unknown) => void
}

export class SearchThread {
  readonly #options: SearchOptions
  readonly #searchesMax: number
  readonly #waiting: Waiting[] = []
  #worker: Worker | undefined

  /** The thread is started by the first search. */
  constructor(options: SearchOptions, searchesMax: number) {
    this.#options = options
    this.#searchesMax = searchesMax
  }

  /**
   * The page of a query.
   *
   * @throws AppError `overloaded` when too many searches wait, or something is missing for the moment; another Error
   * when the file cannot be read.
   */
  search(query: PlantQuery): Promise<PlantPage> {
    if (this.#waiting.length >= this.#searchesMax) {
      return Promise.reject(new AppError('overloaded', 'too many searches are waiting; try again'))
    }
    const { promise, resolve, reject } = Promise.withResolvers<PlantPage>()
    this.#waiting.push({ resolve, reject })
    this.#worker ??= this.#start()
    this.#worker.postMessage(query)
    return promise
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(searchUrl, { workerData: this.#options, name: 'plantstore-search' })
    worker.on('message', (message: FromSearch) => this.#receive(message))
    worker.on('error', (cause) => this.#end(worker, cause))
    worker.on('exit', () => this.#end(worker, new Error('the search thread ended')))
    return worker
  }

  #receive(message: FromSearch): void {
    const waiting = this.#waiting.shift()
    if (message.kind === 'page') waiting?.resolve(message.page)
    else if (message.isPassing) waiting?.reject(passing(message.error))
    else waiting?.reject(message.error)
  }

  /** The next search starts another thread: one that could not be started, or ran out of memory, is no damage. */
  #end(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    for (const { reject } of this.#waiting.splice(0)) reject(passing(cause))
  }
}

function passing(cause: unknown): AppError {
  return new AppError('overloaded', 'the store is out of resources, try again', { cause })
}
