// The body of an arriving request, in pieces, the last of which ends with the body.

import type { IncomingHttpHeaders } from 'node:http'
import { blankLine } from './head.ts'

/** Overhead of Node.js and of what collects it per piece. */
const pieceBytes = 256

export class Body {
  /** Bytes still to come; undefined for a chunked body. */
  #left: number | undefined
  /** The last characters of the previous piece. */
  #tail = ''
  #keptBytes: number

  /** @param headBytes length of the preceding head. */
  constructor(headers: IncomingHttpHeaders, headBytes: number) {
    this.#left = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : undefined
    this.#keptBytes = headBytes
  }

  /** Approximate memory used by the request so far. */
  get keptBytes(): number {
    return this.#keptBytes
  }

  /**
   * Returns the length of the next piece. Chunks and their trailer end with an empty line (RFC 9112, section 7.1), and
   * so does each piece that contains one.
   */
  find(bytes: Buffer): number {
    if (this.#left !== undefined) return Math.min(this.#left, bytes.length)
    // The empty line may have begun in the previous piece.
    const seam = this.#tail + bytes.toString('latin1', 0, blankLine.length - 1)
    const inSeam = seam.indexOf(blankLine)
    if (inSeam !== -1) return inSeam + blankLine.length - this.#tail.length
    const found = bytes.indexOf(blankLine)
    return found === -1 ? bytes.length : found + blankLine.length
  }

  /** Records a consumed piece. */
  note(piece: Buffer): void {
    this.#keptBytes += piece.length + pieceBytes
    if (this.#left !== undefined) this.#left -= piece.length
    else this.#tail = (this.#tail + piece.toString('latin1', Math.max(piece.length - 3, 0))).slice(-3)
  }
}
