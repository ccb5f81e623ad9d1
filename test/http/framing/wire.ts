// A client on a bare socket that keeps every received byte, and parses the responses in them.

import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { readAnswer } from '../../support/client.ts'
import type { HttpResponse } from '../../support/conformance.ts'

export class Wire implements Disposable {
  readonly socket: Socket
  /** The places of the answers to HEAD, which have no body. */
  heads: readonly number[]
  /** Those that have come as a whole. */
  answers: HttpResponse[] = []
  hasEnded = false
  readonly #patienceMs: number
  #received = Buffer.alloc(0)

  constructor(port: number, heads: readonly number[], patienceMs: number) {
    this.heads = heads
    this.#patienceMs = patienceMs
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    this.socket.on('data', (bytes: Buffer) => {
      this.#received = Buffer.concat([this.#received, bytes])
      while (this.#takeAnswer());
    })
    const end = (): void => {
      this.hasEnded = true
    }
    // The server may reset a connection on which a client goes on sending; what has come by then is what counts.
    this.socket.on('error', end).on('end', end).on('close', end)
  }

  /** What came after the last whole answer. */
  get rest(): string {
    return this.#received.toString('latin1')
  }

  /** Waits until a condition holds; gives whether it does, before the connection ends and patience too. */
  async until(condition: () => boolean): Promise<boolean> {
    const deadlineMs = performance.now() + this.#patienceMs
    while (!condition() && !this.hasEnded && performance.now() < deadlineMs) await sleep(2)
    return condition()
  }

  /** Waits until so many answers have come. */
  untilAnswers(count: number): Promise<boolean> {
    return this.until(() => this.answers.length >= count)
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }

  #takeAnswer(): boolean {
    const found = readAnswer(this.#received, this.heads.includes(this.answers.length))
    if (found === undefined) return false
    this.answers.push(found)
    this.#received = this.#received.subarray(found.length)
    return true
  }
}
