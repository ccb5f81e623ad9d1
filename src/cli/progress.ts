// Shows the progress of a long command on one line, on terminals only.

import { systemClock } from '../domain/clock.ts'
import type { Output } from '../terminal.ts'

const redrawMs = 100

const startOfLine = '\r\u001b[K'

export class Progress {
  readonly #output: Output
  readonly #bytesTotal: number
  readonly #startedMs = systemClock.monotonicMs()
  #drawnMs = 0

  /** @param bytesTotal the number of bytes to read; 0 if it is not known. */
  constructor(output: Output, bytesTotal: number) {
    this.#output = output
    this.#bytesTotal = bytesTotal
  }

  draw(plants: number, bytesRead: number): void {
    const nowMs = systemClock.monotonicMs()
    if (this.#output.isTTY !== true || nowMs - this.#drawnMs < redrawMs) return
    this.#drawnMs = nowMs
    const elapsedMs = Math.max(1, nowMs - this.#startedMs)
    let line = `${plants} plants, ${Math.round((plants / elapsedMs) * 1000)} a second`
    if (this.#bytesTotal > 0 && bytesRead > 0) {
      const share = Math.min(1, bytesRead / this.#bytesTotal)
      const bar = '#'.repeat(Math.floor(share * 20)).padEnd(20, '.')
      line += ` [${bar}] ${Math.floor(share * 100)} %, ${Math.ceil((elapsedMs * (1 - share)) / share / 1000)} s left`
    }
    this.#output.write(startOfLine + line)
  }

  /** Erases the line. */
  clear(): void {
    if (this.#drawnMs > 0) this.#output.write(startOfLine)
  }
}
