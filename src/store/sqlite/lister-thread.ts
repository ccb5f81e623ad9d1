// This side of a lister thread: pages that may be long, and searches, do not keep other requests waiting.

import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { AppError } from '../../domain/errors.ts'
import type { PlantPage, PlantQuery } from '../../domain/store.ts'
import type { FromLister, ListerOptions, ToLister } from './messages.ts'

// The thread's file ends as this one does: .ts in a checkout, .js after a build.
const listerUrl = new URL(`./lister${extname(import.meta.url)}`, import.meta.url)

/** Pages that the thread is asked for at once: it has the next one before it, and this side few that it has made. */
const askedMax = 2

interface Wanted {
  readonly query: PlantQuery
  readonly assertWanted: () => void
  readonly resolve: (page: PlantPage) => void
  readonly reject: (cause: unknown) => void
}

export class ListerThread {
  readonly #options: ListerOptions
  readonly #kind: 'lists' | 'searches'
  readonly #wantedMax: number
  /** In the order in which they came: those that the thread was asked for first. */
  readonly #wanted: Wanted[] = []
  #asked = 0
  #worker: Worker | undefined

  /**
   * The thread is started by the first page.
   *
   * @param kind what its pages are.
   * @param wantedMax pages that may wait for each other.
   */
  constructor(options: ListerOptions, kind: 'lists' | 'searches', wantedMax: number) {
    this.#options = options
    this.#kind = kind
    this.#wantedMax = wantedMax
  }

  /**
   * The page of a query.
   *
   * @param assertWanted asked when its turn has come; rejects with what it throws.
   * @throws AppError `overloaded` when too many pages wait, or something is missing for the moment; another Error
   * when the file cannot be read.
   */
  list(query: PlantQuery, assertWanted: () => void): Promise<PlantPage> {
    if (this.#wanted.length >= this.#wantedMax) {
      return Promise.reject(new AppError('overloaded', `too many ${this.#kind} are waiting; try again`))
    }
    const { promise, resolve, reject } = Promise.withResolvers<PlantPage>()
    this.#wanted.push({ query, assertWanted, resolve, reject })
    this.#worker ??= this.#start()
    this.#ask(this.#worker)
    return promise
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(listerUrl, { workerData: this.#options, name: `plantstore-${this.#kind}` })
    worker.on('message', (message: FromLister) => this.#receive(worker, message))
    worker.on('error', (cause) => this.#end(worker, cause))
    worker.on('exit', () => this.#end(worker, new Error(`the thread of ${this.#kind} ended`)))
    return worker
  }

  #ask(worker: Worker): void {
    const next = this.#wanted[this.#asked]
    if (next === undefined || this.#asked === askedMax || this.#worker !== worker) return
    try {
      next.assertWanted()
    } catch (cause) {
      this.#wanted.splice(this.#asked, 1)
      next.reject(cause)
      // There may be thousands.
      setImmediate(() => this.#ask(worker))
      return
    }
    this.#asked += 1
    worker.postMessage(next.query satisfies ToLister)
  }

  #receive(worker: Worker, message: FromLister): void {
    if (this.#worker !== worker) return
    const wanted = this.#wanted.shift()
    this.#asked -= 1
    this.#ask(worker)
    if (message.kind === 'page') wanted?.resolve(message.page)
    else if (message.isPassing) wanted?.reject(passing(message.error))
    else wanted?.reject(message.error)
  }

  /** The next page starts another thread: one that could not be started, or ran out of memory, is no damage. */
  #end(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    this.#asked = 0
    for (const { reject } of this.#wanted.splice(0)) reject(passing(cause))
  }
}

function passing(cause: unknown): AppError {
  return new AppError('overloaded', 'the store is out of resources, try again', { cause })
}
