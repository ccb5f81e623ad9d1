// What has arrived over a connection and the parser of Node.js has not got yet. The parser gets one request at a time:
// first its head as a whole, then what has come of its body.

import type { IncomingMessage } from 'node:http'
import { Body } from './body.ts'
import { countLineEnds, Head } from './head.ts'

export interface IntakeOptions {
  /** Gives the parser some bytes. */
  readonly parse: (bytes: Buffer) => void
  /** The newest request that the parser has found. */
  readonly newest: () => IncomingMessage | undefined
  /** Request line and header fields of a request. */
  readonly headerBytesMax: number
}

export class Intake {
  readonly #options: IntakeOptions
  #held: Buffer | undefined
  /** The head that begins `#held`. */
  #head = new Head()
  /** The body of the newest request, until it has arrived. */
  #body: Body | undefined
  #isPartial = false

  constructor(options: IntakeOptions) {
    this.#options = options
  }

  get isEmpty(): boolean {
    return this.#held === undefined
  }

  /** Whether it holds the beginning of a head, of which more has to come. */
  get isPartial(): boolean {
    return this.#isPartial
  }

  /** Whether the parser waits for the rest of a body. */
  get isInBody(): boolean {
    return this.#body !== undefined
  }

  /** The method of the request that is arriving, once it is known. */
  get method(): string | undefined {
    return this.#head.method
  }

  /** Bytes of requests that wait for their turn. */
  get waitingBytes(): number {
    return this.#isPartial ? 0 : (this.#held?.length ?? 0)
  }

  /** Bytes that are kept of a request whose end has not arrived. */
  get arrivingBytes(): number {
    return this.#body?.keptBytes ?? (this.#isPartial ? (this.#held?.length ?? 0) : 0)
  }

  /** @param bytes valid until it returns. */
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
   * Gives the parser a head, what has come of its body, or both. Gives whether it got any.
   *
   * @throws AppError when what arrives is not a request that is served: see `Head`.
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

  /** Takes some bytes from the beginning of what is held. */
  #cut(held: Buffer, length: number): Buffer {
    this.#held = length === held.length ? undefined : held.subarray(length)
    return held.subarray(0, length)
  }
}
