// Shows the progress of a long command on one line, on terminals only.

import { limits } from '../limits.ts'
import type { Output } from '../terminal.ts'

export class Progress {
  readonly #output: Output
  readonly #bytesTotal: number | undefined
  readonly #startedMs: number
  #drawnMs = 0

  /** @param bytesTotal the number of bytes to read, if known. */
  constructor(output: Output, bytesTotal: number | undefined, nowMs: number) {
    this.#output = output
    this.#bytesTotal = bytesTotal
    this.#startedMs = nowMs
  }

  draw(plants: number, bytesRead: number, nowMs: number): void {
    if (this.#output.isTTY !== true || nowMs - this.#drawnMs < limits.progressEveryMs) return
    this.#drawnMs = nowMs
    const elapsedMs = Math.max(1, nowMs - this.#startedMs)
    const rate = Math.round((plants / elapsedMs) * 1000)
    this.#output.write(`\r\u001b[K${plants} plants, ${rate} a second${this.#left(bytesRead, elapsedMs)}`)
  }

  /** Erases the line. */
  clear(): void {
    if (this.#output.isTTY === true && this.#drawnMs > 0) this.#output.write('\r\u001b[K')
  }

  #left(bytesRead: number, elapsedMs: number): string {
    if (this.#bytesTotal === undefined || bytesRead === 0) return ''
    const share = Math.min(1, bytesRead / this.#bytesTotal)
    const bar = '#'.repeat(Math.floor(share * 20)).padEnd(20, '.')
    return ` [${bar}] ${Math.floor(share * 100)} %, ${Math.ceil((elapsedMs * (1 - share)) / share / 1000)} s left`
  }
}
