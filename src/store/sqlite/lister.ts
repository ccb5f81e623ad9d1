// The main thread's side of a lister thread, which keeps long pages, searches and summaries from blocking requests.

import assert from 'node:assert/strict'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { AppError } from '../../domain/errors.ts'
import type { PlantPage, PlantQuery, Summary } from '../../domain/store.ts'
import type { FromLister, ListerOptions, ToLister } from './writer-messages.ts'

// .ts in a checkout, .js after a build.
const listerUrl = new URL(`./lister-thread${extname(import.meta.url)}`, import.meta.url)

/** Requests sent to the thread at once: enough to keep it busy, without buffering many finished pages. */
const askedMax = 2

type ListerAnswer = Exclude<FromLister, { readonly kind: 'failed' }>

interface QueuedRequest {
  readonly request: ToLister
  readonly assertWanted: () => void
  readonly resolve: (made: ListerAnswer) => void
  readonly reject: (cause: unknown) => void
}

export class ListerThread {
  readonly #options: ListerOptions
  readonly #kind: 'lists' | 'searches'
  readonly #wantedMax: number
  /** By arrival time. The first `#asked` requests were sent to the thread. */
  readonly #wanted: QueuedRequest[] = []
  #asked = 0
  #worker: Worker | undefined

  /**
   * The first request starts the thread.
   *
   * @param kind names the thread and its errors.
   * @param wantedMax maximum number of queued requests.
   */
  constructor(options: ListerOptions, kind: 'lists' | 'searches', wantedMax: number) {
    this.#options = options
    this.#kind = kind
    this.#wantedMax = wantedMax
  }

  /**
   * Lists plants.
   *
   * @param assertWanted called before the request is sent to the thread; if it throws, the call rejects with its error.
   * @throws AppError `overloaded` if too many requests are queued or resources are short; another Error if the file
   * cannot be read.
   */
  async list(query: PlantQuery, assertWanted: () => void): Promise<PlantPage> {
    const made = await this.#submit({ kind: 'list', query }, assertWanted)
    assert(made.kind === 'page')
    return made.page
  }

  /** Throws as `list` does. */
  async summarize(): Promise<Summary> {
    const made = await this.#submit({ kind: 'summarize' }, () => {})
    assert(made.kind === 'summary')
    return made.summary
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #submit(request: ToLister, assertWanted: () => void): Promise<ListerAnswer> {
    if (this.#wanted.length >= this.#wantedMax) {
      return Promise.reject(new AppError('overloaded', `too many ${this.#kind} are waiting; try again`))
    }
    const { promise, resolve, reject } = Promise.withResolvers<ListerAnswer>()
    this.#wanted.push({ request, assertWanted, resolve, reject })
    this.#worker ??= this.#start()
    this.#ask(this.#worker)
    return promise
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
      // Not recursively: thousands may be queued.
      setImmediate(() => this.#ask(worker))
      return
    }
    this.#asked += 1
    worker.postMessage(next.request)
  }

  #receive(worker: Worker, message: FromLister): void {
    if (this.#worker !== worker) return
    const wanted = this.#wanted.shift()
    this.#asked -= 1
    this.#ask(worker)
    if (message.kind !== 'failed') wanted?.resolve(message)
    else wanted?.reject(message.isPassing ? passing(message.error) : message.error)
  }

  /** The next request starts a new thread. A thread that cannot start, or runs out of memory, proves no damage. */
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
