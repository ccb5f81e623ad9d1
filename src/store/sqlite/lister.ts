// The main thread's side of a lister thread, which keeps long pages, searches and summaries from blocking requests.

import { AppError } from '../../domain/errors.ts'
import { passingMessage } from './file/database.ts'
import type { ListerOptions, ToLister } from './lister-thread.ts'
import { Thread } from './thread.ts'

/** Requests sent to the thread at once: enough to keep it busy, without buffering many finished pages. */
const askedMax = 2

export class Lister {
  readonly #options: ListerOptions
  readonly #kind: 'lists' | 'searches'
  readonly #wantedMax: number
  /** Requests that wait for their turn, by arrival time. */
  readonly #waiting: PromiseWithResolvers<void>[] = []
  #asked = 0
  #thread: Thread<ToLister> | undefined

  /**
   * @param kind names the thread and its errors.
   * @param wantedMax maximum number of requests at once.
   */
  constructor(options: ListerOptions, kind: 'lists' | 'searches', wantedMax: number) {
    this.#options = options
    this.#kind = kind
    this.#wantedMax = wantedMax
  }

  /**
   * Sends a request to the thread when it is its turn. The first one starts the thread.
   *
   * @param assertWanted called before the request is sent; if it throws, the call rejects with its error.
   * @throws AppError `overloaded` if too many requests are queued or resources are short; another Error if the file
   * cannot be read.
   */
  async ask<Made>(request: ToLister, assertWanted = (): void => {}): Promise<Made> {
    if (this.#asked + this.#waiting.length >= this.#wantedMax) {
      throw new AppError('overloaded', `too many ${this.#kind} are waiting; try again`)
    }
    if (this.#asked < askedMax) this.#asked += 1
    else {
      const turn = Promise.withResolvers<void>()
      this.#waiting.push(turn)
      await turn.promise
    }
    try {
      assertWanted()
      this.#thread ??= this.#start()
      return await this.#thread.ask<Made>(request)
    } finally {
      // Not at once: thousands of requests may be queued whose clients have left.
      setImmediate(() => {
        const next = this.#waiting.shift()
        if (next === undefined) this.#asked -= 1
        else next.resolve()
      })
    }
  }

  async close(): Promise<void> {
    await this.#thread?.terminate()
  }

  #start(): Thread<ToLister> {
    return new Thread('lister-thread', `plantstore-${this.#kind}`, this.#options, (cause) => {
      // The next request starts a new thread. A thread that cannot start, or runs out of memory, proves no damage.
      this.#thread = undefined
      const error = new AppError('overloaded', passingMessage, { cause })
      for (const { reject } of this.#waiting.splice(0)) reject(error)
      return error
    })
  }
}
