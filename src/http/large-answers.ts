// Schedules large answers, such as pages of plants: starts a few in each turn of the event loop, and none while too
// many bytes wait to be read. Streams of changes add to those bytes.

import { nextTick } from 'node:process'
import { AppError } from '../domain/errors.ts'
import type { Limits } from '../limits.ts'
import type { ReplyStream, RequestConnection } from './request.ts'

/** Approximate limit on the bytes of large answers in one turn of the event loop. Further answers wait for the next. */
const turnBytesMax = 64 * 1024

/** A connection, which has one page at a time, or a stream. */
type Reader = RequestConnection | ReplyStream

/** Charge for an answer whose size is not known yet: about what the request itself costs. */
const beginningBytes = 4_096

export class LargeAnswers {
  readonly #unreadBytesMax: number
  #bytes = 0
  /** Unread bytes. */
  readonly #unread = new Map<Reader, number>()
  /** Answers that wait for their turn. */
  readonly #waiting: (() => void)[] = []
  /** Bytes of large answers in this turn of the event loop. */
  #turnBytes = 0

  constructor(limits: Limits) {
    this.#unreadBytesMax = limits.unreadBytesMax
  }

  /** Waits for the turn of a large answer, so that many do not delay small ones; undefined if it may begin at once. */
  begin(): Promise<void> | undefined {
    if (this.#waiting.length > 0 || this.#turnBytes >= turnBytesMax) {
      return new Promise((resolve) => this.#waiting.push(resolve))
    }
    this.#note(beginningBytes)
    return undefined
  }

  get isFull(): boolean {
    return this.#bytes >= this.#unreadBytesMax
  }

  /** Throws AppError if a large answer would be wasted: its client has left, or too many bytes wait. */
  assertWanted({ socket }: RequestConnection): void {
    if (socket.destroyed) throw new AppError('overloaded', 'the client has left')
    this.#assertRoom()
  }

  /** Counts a page until `forget`. Throws AppError `overloaded` if too many bytes were written in the meantime. */
  add(connection: RequestConnection, bytes: number): void {
    this.#assertRoom()
    if (connection.socket.destroyed) return
    this.count(connection, bytes)
    this.#note(bytes)
  }

  /** Counts the unread bytes of a reader, in place of those that were counted before, until `forget`. */
  count(reader: Reader, bytes: number): void {
    this.forget(reader)
    this.#unread.set(reader, bytes)
    this.#bytes += bytes
  }

  /** Forgets a reader that has read everything, or never will. */
  forget(reader: Reader): void {
    this.#bytes -= this.#unread.get(reader) ?? 0
    this.#unread.delete(reader)
  }

  #note(bytes: number): void {
    if (this.#turnBytes === 0) {
      setImmediate(() => {
        this.#turnBytes = 0
        this.#beginNext()
      })
    }
    this.#turnBytes += bytes
  }

  /** Begins one answer after another. The bytes of one are known when the microtasks that make it have ended. */
  #beginNext(): void {
    if (this.#turnBytes >= turnBytesMax) return
    const begin = this.#waiting.shift()
    if (begin === undefined) return
    this.#note(beginningBytes)
    begin()
    queueMicrotask(() => nextTick(() => this.#beginNext()))
  }

  #assertRoom(): void {
    if (!this.isFull) return
    throw new AppError('overloaded', 'too many pages are waiting for other clients to read them; try again')
  }
}

/** Frees the bytes of a page after use, without garbage collection. Bytes in a pooled buffer are left alone. */
export function freePage(bytes: unknown): void {
  if (bytes instanceof Uint8Array && bytes.byteLength === bytes.buffer.byteLength) {
    ;(bytes.buffer as ArrayBuffer).transfer(0)
  }
}
