// The bytes of a connection that wait for the parser of Node.js. The parser gets one request at a time: first its
// complete head, then its body as it arrives.

import type { IncomingMessage } from 'node:http'
import { Body } from './body.ts'
import { countLineEnds, Head } from './head.ts'

export interface IntakeOptions {
  /** Passes bytes to the parser. */
  readonly parse: (bytes: Buffer) => void
  /** The newest request of the parser. */
  readonly newest: () => IncomingMessage | undefined
  /** Maximum size of the request line and header fields. */
  readonly headerBytesMax: number
}

export class Intake {
  readonly #options: IntakeOptions
  #held: Buffer | undefined
  /** The head at the start of `#held`. */
  #head = new Head()
  /** The body of the newest request, until it is complete. */
  #body: Body | undefined
  #isPartial = false

  constructor(options: IntakeOptions) {
    this.#options = options
  }

  get isEmpty(): boolean {
    return this.#held === undefined
  }

  /** Whether it holds an incomplete head. */
  get isPartial(): boolean {
    return this.#isPartial
  }

  /** Whether a body is incomplete. */
  get isInBody(): boolean {
    return this.#body !== undefined
  }

  /** The method of the arriving request, once it is known. */
  get method(): string | undefined {
    return this.#head.method
  }

  /** Bytes of waiting requests. */
  get waitingBytes(): number {
    return this.#isPartial ? 0 : (this.#held?.length ?? 0)
  }

  /** Bytes held of an incomplete request. */
  get arrivingBytes(): number {
    return this.#body?.keptBytes ?? (this.#isPartial ? (this.#held?.length ?? 0) : 0)
  }

  /** @param bytes valid until this returns. */
  add(bytes: Buffer): void {
    this.#held = this.#held === undefined ? Buffer.from(bytes) : Buffer.concat([this.#held, bytes])
    this.#isPartial = false
  }

  drop(): void {
    this.#held = undefined
    this.#body = undefined
    this.#isPartial = false
  }

  /**
   * Passes a head, the available part of its body, or both to the parser. Returns whether it passed any.
   *
   * @throws AppError if the input is not a valid request: see `Head`.
   */
  take(): boolean {
    const isTaken = this.#body === undefined ? this.#takeHead() : this.#takeBody(this.#body)
    this.#isPartial = !isTaken && this.#held !== undefined
    return isTaken
  }

  #takeHead(): boolean {
    const { parse, newest, headerBytesMax } = this.#options
    const held = this.#held?.subarray(countLineEnds(this.#held))
    this.#held = held?.length === 0 ? undefined : held
    if (this.#held === undefined) return false
    const length = this.#head.find(this.#held, headerBytesMax)
    if (length === -1) return false
    const before = newest()
    parse(this.#cut(this.#held, length))
    this.#head = new Head()
    const request = newest()
    if (request === undefined || request === before || request.complete) return true
    this.#body = new Body(request.headers, length)
    this.#takeBody(this.#body)
    return true
  }

  #takeBody(body: Body): boolean {
    if (this.#held === undefined) return false
    const piece = this.#cut(this.#held, body.find(this.#held))
    this.#options.parse(piece)
    body.note(piece)
    if (this.#options.newest()?.complete === true) this.#body = undefined
    return true
  }

  /** Removes bytes from the start of the held ones. */
  #cut(held: Buffer, length: number): Buffer {
    this.#held = length === held.length ? undefined : held.subarray(length)
    return held.subarray(0, length)
  }
}
