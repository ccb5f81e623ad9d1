// Large answers, which are pages of plants: one is looked for in each turn of the event loop, and none while too many
// bytes wait to be read.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '../../domain/errors.ts'
import type { Connection } from './connection.ts'

export class LargeAnswers {
  readonly #unreadBytesMax: number
  #bytes = 0
  /** Those that wait to be read, in bytes. */
  readonly #answers = new Map<ServerResponse, number>()
  /** Those that wait to be looked for. */
  readonly #finds: (() => void)[] = []

  constructor({ unreadBytesMax }: { readonly unreadBytesMax: number }) {
    this.#unreadBytesMax = unreadBytesMax
  }

  /**
   * Looks for a large answer when its turn has come. In each turn of the event loop one is begun, so that small ones are
   * not kept waiting by many of them.
   *
   * @throws AppError `overloaded` when too many bytes wait; otherwise what `find` throws.
   */
  find<T>(connection: Connection, find: () => T | Promise<T>): Promise<T> {
    return connection.holdWhile(async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#finds.push(resolve)
      if (this.#finds.length === 1) setImmediate(() => this.#begin())
      await promise
      this.#assertRoom()
      return find()
    })
  }

  /** Throws an AppError when a large answer would be made for nothing: its client has left, or too many bytes wait. */
  assertWanted({ socket }: IncomingMessage): void {
    if (socket.destroyed) throw new AppError('overloaded', 'the client has left')
    this.#assertRoom()
  }

  /**
   * Counts a large answer until it is read, or its connection ends.
   *
   * @throws AppError `overloaded` when too many bytes wait: others may have been written since it was looked for.
   */
  add(response: ServerResponse, bytes: number): void {
    this.#assertRoom()
    if (response.req.socket.destroyed) return
    this.#answers.set(response, bytes)
    this.#bytes += bytes
    response.once('close', () => this.forget(response))
  }

  /** Forgets an answer that is not sent. */
  forget(response: ServerResponse): void {
    this.#bytes -= this.#answers.get(response) ?? 0
    this.#answers.delete(response)
  }

  #begin(): void {
    this.#finds.shift()?.()
    if (this.#finds.length > 0) setImmediate(() => this.#begin())
  }

  #assertRoom(): void {
    if (this.#bytes < this.#unreadBytesMax) return
    throw new AppError('overloaded', 'too many pages are waiting for other clients to read them; try again')
  }
}
