// Faults to order: what happens to a client when the network or the server fails, at the moment that a test wants.

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { OperationId } from '../contract/document.ts'
import { errorNumbers } from '../domain/errors.ts'
import type { Intercept } from '../http/operations.ts'
import type { Fault } from './fault.ts'

/** The faults of a server, in the order in which they were ordered. */
export class Faults {
  #ordered: { readonly fault: Fault; left: number }[] = []

  order(fault: Fault): void {
    this.#ordered.push({ fault, left: fault.times ?? 1 })
  }

  clear(): void {
    this.#ordered = []
  }

  readonly intercept: Intercept = async (operation, answer, socket) => {
    const fault = this.#take(operation)
    if (fault === undefined) return answer()
    const { status, delayMs, afterCommit = false } = fault
    if (delayMs !== undefined) await sleep(delayMs)
    if (status === undefined && delayMs !== undefined && !afterCommit) return answer()
    if (afterCommit) await answer()
    if (status === undefined) socket.destroy()
    else refuse(socket, status, fault)
    // Nobody is left to be answered.
    return new Promise(() => {})
  }

  #take(operation: OperationId): Fault | undefined {
    const ordered = this.#ordered.find(({ fault }) => fault.operation === undefined || fault.operation === operation)
    if (ordered === undefined) return undefined
    ordered.left -= 1
    if (ordered.left === 0) this.#ordered = this.#ordered.filter((each) => each !== ordered)
    return ordered.fault
  }
}

/** Answers as the server refuses: with an Error. After it the connection ends. */
function refuse(socket: Socket, status: number, { retryAfter, afterCommit }: Fault): void {
  // Of a 503 the number says whether anything may have been done.
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
