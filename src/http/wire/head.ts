// Scans the head of a request before Node.js's parser: finds its end, and rejects what cannot be HTTP/1.x. The parser
// receives whole heads only, so that no answer depends on packet boundaries.

import { AppError } from '../../domain/errors.ts'
import { METHODS } from './node-http.ts'

export const blankLine = '\r\n\r\n'
const blankLineBytes = blankLine.length
const carriageReturn = 0x0d
const lineFeed = 0x0a

/** RFC 9112, section 3; several spaces are allowed after the method. */
const requestLine = /^([\w!#$%&'*+.^`|~-]{1,32}) +[^ ]+ ([^ ]{1,32})$/
/** Matches a prefix of a request line (RFC 9110, section 5.6.2). */
const beginningOfLine = /^[\w!#$%&'*+.^`|~-]{0,32}(?: |$)/
const beginningCharacters = 33

/** The number of bytes of line ends before a request, which are skipped (RFC 9112, section 2.2). */
export function countLineEnds(bytes: Buffer): number {
  let count = 0
  while (bytes[count] === carriageReturn || bytes[count] === lineFeed) count += 1
  return count
}

/** The head of the next request on a connection, arriving in any number of pieces. */
export class Head {
  /** Bytes already searched for the end. */
  #searched = 0
  #method: string | undefined

  /** The method, once the request line has arrived. */
  get method(): string | undefined {
    return this.#method
  }

  /**
   * Returns the length of the head at the start of the bytes, or -1 until its end arrives. Each call repeats the bytes
   * of the call before.
   *
   * @throws AppError `malformedRequest`, `unknownMethod` or `headerFieldsTooLarge` as soon as the bytes cannot begin a
   * valid request.
   */
  find(bytes: Buffer, bytesMax: number): number {
    if (this.#method === undefined) this.#method = readMethod(bytes, bytesMax)
    const found = bytes.indexOf(blankLine, Math.max(this.#searched - blankLineBytes, 0))
    const end = found === -1 ? -1 : found + blankLineBytes
    if (end > bytesMax || (end === -1 && bytes.length > bytesMax)) {
      throw new AppError(
        'headerFieldsTooLarge',
        `the request line and header fields are longer than the ${bytesMax} bytes allowed`,
      )
    }
    // In a complete head, the parser itself rejects lone line feeds.
    if (end === -1) assertLineEnds(bytes, this.#searched)
    this.#searched = bytes.length
    return end
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
