// Schedules large answers, which are pages of plants: starts one per turn of the event loop, and none while too many
// bytes wait to be read.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '../../domain/errors.ts'
import type { Connection } from './connection.ts'

export class LargeAnswers {
  readonly #unreadBytesMax: number
  #bytes = 0
  /** Unread answers, with their bytes. */
  readonly #answers = new Map<ServerResponse, number>()
  /** Pending look-ups. */
  readonly #finds: (() => void)[] = []

  constructor({ unreadBytesMax }: { readonly unreadBytesMax: number }) {
    this.#unreadBytesMax = unreadBytesMax
  }

  /**
   * Produces a large answer in its turn. Only one starts per turn of the event loop, so that many of them do not delay
   * small answers.
   *
   * @throws AppError `overloaded` if too many bytes wait; otherwise what `find` throws.
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

  /** Throws AppError if a large answer would be wasted: its client has left, or too many bytes wait. */
  assertWanted({ socket }: IncomingMessage): void {
    if (socket.destroyed) throw new AppError('overloaded', 'the client has left')
    this.#assertRoom()
  }

  /**
   * Counts a large answer until it is read or its connection ends.
   *
   * @throws AppError `overloaded` if too many bytes wait: other answers may have been written in the meantime.
   */
  add(response: ServerResponse, bytes: number): void {
    this.#assertRoom()
    if (response.req.socket.destroyed) return
    this.#answers.set(response, bytes)
    this.#bytes += bytes
    response.once('close', () => this.forget(response))
  }

  /** Forgets an answer that will not be sent. */
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
