// The main thread's side of a lister thread, which keeps long pages, searches and summaries from blocking requests.

import { AppError } from '../../domain/errors.ts'
import { passingMessage } from './file/database.ts'
import type { ListerOptions, ToLister } from './lister-thread.ts'
import { Thread } from './thread.ts'

/** Requests sent to the thread at once: enough to keep it busy, without buffering many finished pages. */
const askedMax = 2

/** @param kind names the thread and its errors. @param wantedMax maximum number of requests at once. */
export function openLister(options: ListerOptions, kind: 'lists' | 'searches', wantedMax: number) {
  /** Requests that wait for their turn, by arrival time. */
  const waiting: PromiseWithResolvers<void>[] = []
  let asked = 0
  let thread: Thread<ToLister> | undefined
  return { ask, close: async (): Promise<void> => thread?.terminate() }

  /**
   * Sends a request to the thread when it is its turn. The first one starts the thread.
   *
   * @param assertWanted called before the request is sent; if it throws, the call rejects with its error.
   * @throws AppError `overloaded` if too many requests are queued or resources are short; another Error if the file
   * cannot be read.
   */
  async function ask<Made>(request: ToLister, assertWanted = (): void => {}): Promise<Made> {
    if (asked + waiting.length >= wantedMax) {
      throw new AppError('overloaded', `too many ${kind} are waiting; try again`)
    }
    if (asked < askedMax) asked += 1
    else {
      const turn = Promise.withResolvers<void>()
      waiting.push(turn)
      await turn.promise
    }
    try {
      assertWanted()
      thread ??= start()
      return await thread.ask<Made>(request)
    } finally {
      // Not at once: thousands of requests may be queued whose clients have left.
      setImmediate(() => {
        const next = waiting.shift()
        if (next === undefined) asked -= 1
        else next.resolve()
      })
    }
  }

  function start(): Thread<ToLister> {
    return new Thread('lister-thread', `plantstore-${kind}`, options, (cause) => {
      // The next request starts a new thread. A thread that cannot start, or runs out of memory, proves no damage.
      thread = undefined
      const error = new AppError('overloaded', passingMessage, { cause })
      for (const { reject } of waiting.splice(0)) reject(error)
      return error
    })
  }
}
