// The body of a request that is arriving, in pieces of which the last ends with the body.

import type { IncomingHttpHeaders } from 'node:http'
import { blankLine } from './head.ts'

/** What Node.js and Fastify keep for a piece, besides its bytes. */
const pieceBytes = 256

export class Body {
  /** Bytes that are still to come; undefined for chunks. */
  #left: number | undefined
  /** The last characters of the piece before. */
  #tail = ''
  #keptBytes: number

  /** @param headBytes the length of the head that it follows. */
  constructor(headers: IncomingHttpHeaders, headBytes: number) {
    this.#left = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : undefined
    this.#keptBytes = headBytes
  }

  /** Bytes that are kept of the request so far, more or less. */
  get keptBytes(): number {
    return this.#keptBytes
  }

  /**
   * The length of the next piece of some bytes. Chunks and their trailer end with an empty line (RFC 9112, section 7.1),
   * and so does each piece of them that has one.
   */
  find(bytes: Buffer): number {
    if (this.#left !== undefined) return Math.min(this.#left, bytes.length)
    // The empty line may have begun in the piece before.
    const seam = this.#tail + bytes.toString('latin1', 0, blankLine.length - 1)
    const inSeam = seam.indexOf(blankLine)
    if (inSeam !== -1) return inSeam + blankLine.length - this.#tail.length
    const found = bytes.indexOf(blankLine)
    return found === -1 ? bytes.length : found + blankLine.length
  }

  /** Notes a piece that was taken. */
  note(piece: Buffer): void {
    this.#keptBytes += piece.length + pieceBytes
    if (this.#left !== undefined) this.#left -= piece.length
    else this.#tail = (this.#tail + piece.toString('latin1', Math.max(piece.length - 3, 0))).slice(-3)
  }
}
