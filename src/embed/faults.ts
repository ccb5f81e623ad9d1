// Injects network and server failures at the moment a test chooses.

import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadContract, type OperationId } from '../contract/document.ts'
import { errorNumbers } from '../domain/errors.ts'
import type { Answer, Intercept } from '../http/operations.ts'
import { STATUS_CODES } from '../http/wire/node-http.ts'
import type { Fault } from './fault.ts'

/** Loaded at the first fault, so that tests without faults do not load the document. */
let operationIds: readonly OperationId[] | undefined

/** The pending faults of a server, oldest first. */
export class Faults {
  #ordered: { readonly fault: Fault; left: number }[] = []
  readonly #underWay = new Set<Promise<unknown>>()
  /** Aborted to release the answers that faults hold back. */
  #clearing = new AbortController()

  /** Throws TypeError for an unknown operation. */
  order(fault: Fault): void {
    const { operation } = fault
    operationIds ??= loadContract().operations.map(({ id }) => id)
    if (operation !== undefined && !operationIds.includes(operation))
      throw new TypeError(`there is no operation ${operation}, only ${operationIds.join(', ')}`)
    this.#ordered.push({ fault, left: fault.times ?? 1 })
  }

  /** Discards pending faults, cuts connections they hold, and waits for operations in progress. */
  async clear(): Promise<void> {
    this.#ordered = []
    this.#clearing.abort()
    this.#clearing = new AbortController()
    await Promise.allSettled(this.#underWay)
  }

  readonly intercept: Intercept = async (operation, answer, socket) => {
    const fault = this.#take(operation)
    if (fault === undefined) return this.#answer(answer)
    const { status, delayMs, afterCommit = false } = fault
    const isCleared = delayMs !== undefined && (await this.#isClearedWithin(delayMs))
    if (!isCleared) {
      if (status === undefined && delayMs !== undefined && !afterCommit) return this.#answer(answer)
      if (afterCommit) await this.#answer(answer)
    }
    if (status === undefined || isCleared) socket.destroy()
    else refuse(socket, status, fault)
    // Never settles: the client is gone.
    return new Promise(() => {})
  }

  async #answer(answer: () => Answer<OperationId> | Promise<Answer<OperationId>>): Promise<Answer<OperationId>> {
    const answered = Promise.resolve(answer())
    this.#underWay.add(answered)
    try {
      return await answered
    } finally {
      this.#underWay.delete(answered)
    }
  }

  #isClearedWithin(ms: number): Promise<boolean> {
    return sleep(ms, false, { signal: this.#clearing.signal }).catch(() => true)
  }

  #take(operation: OperationId): Fault | undefined {
    const ordered = this.#ordered.find(({ fault }) => fault.operation === undefined || fault.operation === operation)
    if (ordered === undefined) return undefined
    ordered.left -= 1
    if (ordered.left === 0) this.#ordered = this.#ordered.filter((each) => each !== ordered)
    return ordered.fault
  }
}

/** Answers with an Error like the server does, then closes the connection. */
function refuse(socket: Socket, status: number, { retryAfter, afterCommit }: Fault): void {
  // The number of a 503 tells whether the operation may have taken effect.
  const known = afterCommit ? errorNumbers.storeUnavailable : errorNumbers.overloaded
  const error = status === 503 ? known : status * 100
  const body = JSON.stringify({ error, message: 'this refusal was ordered by a test' })
  const fields = [
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Access-Control-Allow-Origin: *',
    'Access-Control-Expose-Headers: Retry-After',
    ...(retryAfter === undefined ? [] : [`Retry-After: ${retryAfter}`]),
    'Connection: close',
  ]
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${fields.join('\r\n')}\r\n\r\n${body}`)
}
