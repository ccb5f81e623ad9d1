// The unparsed bytes of a connection. They are cut into heads and pieces of bodies, so that Node.js's parser gets one
// request at a time, and no reply depends on packet boundaries.

import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../domain/errors.ts'
import { METHODS } from '../node-http.ts'

const blankLine = '\r\n\r\n'
const carriageReturn = 0x0d
const lineFeed = 0x0a

/** RFC 9112, section 3; several spaces are allowed after the method. */
const requestLine = /^([\w!#$%&'*+.^`|~-]{1,32}) +[^ ]+ ([^ ]{1,32})$/
/** Matches a prefix of a request line (RFC 9110, section 5.6.2). */
const beginningOfLine = /^[\w!#$%&'*+.^`|~-]{0,32}(?: |$)/
const beginningCharacters = 33

export class Incoming {
  readonly #headBytesMax: number
  #held: Buffer | undefined
  /** Bytes of an incomplete head that were already searched for its end. */
  #searched = 0
  #method: string | undefined
  /** Bytes of the body still to come; undefined for a chunked one. */
  #bodyBytesLeft: number | undefined
  /** The last characters of the previous piece of a chunked body. */
  #tail = ''

  constructor(headBytesMax: number) {
    this.#headBytesMax = headBytesMax
  }

  get heldBytes(): number {
    return this.#held?.length ?? 0
  }

  /** The method of the newest request whose request line has arrived. */
  get method(): string | undefined {
    return this.#method
  }

  /** @param bytes valid until this returns. */
  add(bytes: Buffer): void {
    this.#held = this.#held === undefined ? Buffer.from(bytes) : Buffer.concat([this.#held, bytes])
  }

  drop(): void {
    this.#held = undefined
  }

  /** Line ends before a request are skipped (RFC 9112, section 2.2). */
  skipLineEnds(): void {
    const bytes = this.#held
    if (bytes === undefined) return
    let count = 0
    while (bytes[count] === carriageReturn || bytes[count] === lineFeed) count += 1
    if (count > 0) this.#cut(bytes, count)
  }

  /**
   * Removes and returns a head; undefined until its end arrives.
   *
   * @throws AppError `malformedRequest`, `unknownMethod` or `headerFieldsTooLarge` as soon as the bytes cannot begin a
   * valid request.
   */
  takeHead(): Buffer | undefined {
    this.skipLineEnds()
    const bytes = this.#held
    if (bytes === undefined) return undefined
    if (this.#searched === 0) this.#method = undefined
    this.#method ??= readMethod(bytes, this.#headBytesMax)
    const found = bytes.indexOf(blankLine, Math.max(this.#searched - blankLine.length, 0))
    const end = found === -1 ? -1 : found + blankLine.length
    if (end > this.#headBytesMax || (end === -1 && bytes.length > this.#headBytesMax)) {
      throw new AppError(
        'headerFieldsTooLarge',
        `the request line and header fields are longer than the ${this.#headBytesMax} bytes allowed`,
      )
    }
    // In a complete head, the parser itself rejects lone line feeds.
    if (end === -1) assertLineEnds(bytes, this.#searched)
    this.#searched = end === -1 ? bytes.length : 0
    if (end === -1) return undefined
    return this.#cut(bytes, end)
  }

  beginBody(headers: IncomingHttpHeaders): void {
    this.#bodyBytesLeft = headers['transfer-encoding'] === undefined ? Number(headers['content-length']) : undefined
    this.#tail = ''
  }

  /**
   * Removes and returns a piece of a body; undefined until more arrives. A chunked body ends with an empty line (RFC
   * 9112, section 7.1), so a piece never extends beyond one.
   */
  takePiece(): Buffer | undefined {
    const bytes = this.#held
    if (bytes === undefined) return undefined
    const isChunked = this.#bodyBytesLeft === undefined
    const piece = this.#cut(bytes, this.#bodyBytesLeft ?? this.#endOfPiece(bytes))
    if (this.#bodyBytesLeft !== undefined) this.#bodyBytesLeft -= piece.length
    if (isChunked) this.#tail = (this.#tail + piece.toString('latin1', Math.max(piece.length - 3, 0))).slice(-3)
    return piece
  }

  #endOfPiece(bytes: Buffer): number {
    // The empty line may have begun in the previous piece.
    const seam = this.#tail + bytes.toString('latin1', 0, blankLine.length - 1)
    const inSeam = seam.indexOf(blankLine)
    if (inSeam !== -1) return inSeam + blankLine.length - this.#tail.length
    const found = bytes.indexOf(blankLine)
    return found === -1 ? bytes.length : found + blankLine.length
  }

  /** Removes and returns at most `length` bytes from the start of `held`. */
  #cut(held: Buffer, length: number): Buffer {
    this.#held = length >= held.length ? undefined : held.subarray(length)
    return held.subarray(0, length)
  }
}

/** Returns the method of a request line; undefined until the line arrives. Throws AppError if the line is invalid. */
function readMethod(bytes: Buffer, bytesMax: number): string | undefined {
  const lineEnd = bytes.indexOf(lineFeed)
  if (lineEnd === -1 || lineEnd > bytesMax) {
    if (!beginningOfLine.test(bytes.toString('latin1', 0, beginningCharacters))) throw malformedLine()
    return undefined
  }
  assertLineEnd(bytes, lineEnd)
  const [, method = '', version] = requestLine.exec(bytes.toString('latin1', 0, lineEnd - 1)) ?? []
  if (version === undefined) throw malformedLine()
  if (version !== 'HTTP/1.1' && version !== 'HTTP/1.0') {
    throw new AppError('malformedRequest', `the version must be HTTP/1.1 or HTTP/1.0, got ${JSON.stringify(version)}`)
  }
  if (method === 'CONNECT') throw new AppError('unknownMethod', 'CONNECT is not served here: this is not a proxy')
  if (!METHODS.includes(method)) throw new AppError('unknownMethod', `the method ${method} is not known`)
  return method
}

function malformedLine(): AppError {
  return new AppError('malformedRequest', 'the request must begin with a line such as GET /plants HTTP/1.1')
}

function assertLineEnds(bytes: Buffer, from: number): void {
  for (let at = bytes.indexOf(lineFeed, from); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) assertLineEnd(bytes, at)
}

function assertLineEnd(bytes: Buffer, at: number): void {
  if (bytes[at - 1] === carriageReturn) return
  throw new AppError('malformedRequest', 'each line of the request line and header fields must end with CR LF')
}
