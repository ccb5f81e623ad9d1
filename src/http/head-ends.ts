// Where the head of a request ends in what comes over a connection: at its blank line, which may come in two pieces.

export const blankLine = '\r\n\r\n'

export class HeadEnds {
  /** The last characters of a head that has not ended yet. */
  #tail = ''

  /** Whether some of a head has come before. */
  get hasBegun(): boolean {
    return this.#tail !== ''
  }

  /** Where the first head in some bytes ends, the beginning of which may have come before; -1 when none does. */
  find(bytes: Buffer): number {
    if (this.#tail !== '') {
      const seam = this.#tail + bytes.toString('latin1', 0, blankLine.length - 1)
      const end = seam.indexOf(blankLine)
      if (end !== -1) return end + blankLine.length - this.#tail.length
    }
    const end = bytes.indexOf(blankLine)
    return end === -1 ? -1 : end + blankLine.length
  }

  /** Notes bytes in which a head goes on that does not end in them. */
  goOn(bytes: Buffer): void {
    this.#tail = (this.#tail + bytes.toString('latin1', Math.max(bytes.length - 3, 0))).slice(-3)
  }

  end(): void {
    this.#tail = ''
  }
}
