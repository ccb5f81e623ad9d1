// Schedules large answers, which are pages of plants: starts a few per turn of the event loop, and none while too many
// bytes wait to be read. The bytes of streams of changes count, too.

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { AppError } from '../../domain/errors.ts'
import type { Limits } from '../../limits.ts'
import type { Connection } from './connection.ts'

/** Bytes of large answers in one turn of the event loop, approximately. Above: further ones wait for the next. */
const turnBytesMax = 64 * 1024

/** An answer, or the connection of a plain request, which has one answer at a time. */
type Answering = ServerResponse | Connection

/** What an answer counts in a turn before its bytes are known: about what the request itself costs. */
const beginningBytes = 4_096

export class LargeAnswers {
  readonly #unreadBytesMax: number
  #bytes = 0
  /** Unread answers, with their bytes. */
  readonly #answers = new Map<Answering, number>()
  /** Answers that wait for their turn. */
  readonly #waiting: (() => void)[] = []
  /** Bytes of the answers of this turn of the event loop. */
  #turnBytes = 0

  constructor(limits: Limits) {
    this.#unreadBytesMax = limits.unreadBytesMax
  }

  /**
   * Begins a large answer in its turn, so that many of them do not delay small answers: at once, if few others have
   * begun in this turn of the event loop.
   */
  begin(answer: () => void): void {
    if (this.#waiting.length === 0 && this.#turnBytes < turnBytesMax) {
      this.#note(beginningBytes)
      answer()
    } else {
      this.#waiting.push(answer)
    }
  }

  /**
   * Produces a large answer in its turn.
   *
   * @throws AppError `overloaded` if too many bytes wait; otherwise what `find` throws.
   */
  find<T>(connection: Connection, find: () => T | Promise<T>): Promise<T> {
    return connection.holdWhile(async () => {
      await new Promise<void>((resolve) => this.begin(resolve))
      this.#assertRoom()
      return find()
    })
  }

  /** Whether too many bytes wait. */
  get isFull(): boolean {
    return this.#bytes >= this.#unreadBytesMax
  }

  /** Throws AppError if a large answer would be wasted: its client has left, or too many bytes wait. */
  assertWanted(socket: Socket): void {
    if (socket.destroyed) throw new AppError('overloaded', 'the client has left')
    this.#assertRoom()
  }

  /**
   * Counts a large answer until `forget`.
   *
   * @throws AppError `overloaded` if too many bytes wait: other answers may have been written in the meantime.
   */
  add(answering: Answering, bytes: number): void {
    this.#assertRoom()
    this.count(answering, bytes)
    this.#note(bytes)
  }

  /** Counts the unread bytes of an answer, in place of those that were counted before, until `forget`. */
  count(answering: Answering, bytes: number): void {
    this.forget(answering)
    this.#answers.set(answering, bytes)
    this.#bytes += bytes
  }

  /** Forgets an answer that is read or will not be. */
  forget(answering: Answering): void {
    this.#bytes -= this.#answers.get(answering) ?? 0
    this.#answers.delete(answering)
  }

  /** Counts bytes in this turn. */
  #note(bytes: number): void {
    if (this.#turnBytes === 0) setImmediate(() => this.#turn())
    this.#turnBytes += bytes
  }

  #turn(): void {
    this.#turnBytes = 0
    while (this.#turnBytes < turnBytesMax) {
      const answer = this.#waiting.shift()
      if (answer === undefined) return
      this.#note(beginningBytes)
      answer()
    }
  }

  /** Throws AppError `overloaded` if too many bytes wait. */
  #assertRoom(): void {
    if (!this.isFull) return
    throw new AppError('overloaded', 'too many pages are waiting for other clients to read them; try again')
  }
}
