// Injects network and server failures at the moment a test chooses.

import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadContract } from '../contract/contract.ts'
import type { OperationId } from '../contract/document.ts'
import { AppError, type ErrorCode } from '../domain/errors.ts'
import { STATUS_CODES } from '../http/node-http.ts'
import type { Answer, Intercept } from '../http/operations.ts'
import type { ReplyStream } from '../http/request.ts'
import { codeOfFault, type Fault } from './fault.ts'

/** The names of operations, read at the first fault. */
let names: readonly OperationId[] | undefined

/** The pending faults of a server, oldest first. */
export class Faults {
  #ordered: { readonly fault: Fault; left: number }[] = []
  readonly #underWay = new Set<Promise<unknown>>()
  readonly #streams = new Set<ReplyStream>()
  /** Aborted to release the answers that faults hold back. */
  #clearing = new AbortController()

  /** Throws TypeError for an unknown operation. */
  order(fault: Fault): void {
    const { operation } = fault
    names ??= loadContract().operations.map(({ id }) => id)
    if (operation !== undefined && !names.includes(operation))
      throw new TypeError(`there is no operation ${operation}, only ${names.join(', ')}`)
    const left = (fault.times ?? 1) - this.#cutStreams(fault)
    if (left > 0) this.#ordered.push({ fault, left })
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
    const code = codeOfFault(fault)
    const { signal } = this.#clearing
    const isCleared = delayMs !== undefined && (await sleep(delayMs, false, { signal }).catch(() => true))
    if (!isCleared) {
      if (status === undefined && code === undefined && delayMs !== undefined && !afterCommit)
        return this.#answer(answer)
      // An error of the operation is lost like its answer.
      if (afterCommit) await this.#answer(answer).catch(() => {})
      if (code !== undefined) throw refusal(code, fault)
    }
    if (status === undefined || isCleared) socket.destroy()
    else answerAsProxy(socket, status, fault)
    // Never settles: the connection is no longer the server's.
    return new Promise(() => {})
  }

  async #answer(answer: () => Answer<OperationId> | Promise<Answer<OperationId>>): Promise<Answer<OperationId>> {
    const answered = Promise.resolve(answer())
    this.#underWay.add(answered)
    try {
      return this.#noteStream(await answered)
    } finally {
      this.#underWay.delete(answered)
    }
  }

  #noteStream(answer: Answer<OperationId>): Answer<OperationId> {
    if (!('stream' in answer)) return answer
    const { stream: write } = answer
    return {
      ...answer,
      stream: (stream, credential) => {
        this.#streams.add(stream)
        stream.onceDone(() => this.#streams.delete(stream))
        write(stream, credential)
      },
    }
  }

  /** Cuts the oldest open streams, if a fault affects them. Returns how many. */
  #cutStreams({ operation, times = 1, status, error, delayMs }: Fault): number {
    const isCut = operation === 'listChanges' && (status ?? error ?? delayMs) === undefined
    const streams = isCut ? [...this.#streams].slice(0, times) : []
    for (const stream of streams) stream.cut()
    return streams.length
  }

  #take(operation: OperationId): Fault | undefined {
    const ordered = this.#ordered.find(({ fault }) => fault.operation === undefined || fault.operation === operation)
    if (ordered === undefined) return undefined
    ordered.left -= 1
    if (ordered.left === 0) this.#ordered = this.#ordered.filter((each) => each !== ordered)
    return ordered.fault
  }
}

/** The document's error, with the header fields that it has. */
function refusal(code: ErrorCode, { retryAfter }: Fault): AppError {
  const isLimit = code === 'rateLimited'
  const seconds = retryAfter ?? (isLimit ? 1 : undefined)
  const fields = {
    ...(seconds !== undefined && { 'retry-after': String(seconds) }),
    ...(isLimit && { 'ratelimit-policy': '"default";q=1;w=1', ratelimit: `"default";r=0;t=${seconds}` }),
  }
  return new AppError(code, 'this refusal was ordered by a test', { fields })
}

/** Answers without an Error, then closes the connection. */
function answerAsProxy(socket: Socket, status: number, { retryAfter }: Fault): void {
  const retry = retryAfter === undefined ? '' : `Retry-After: ${retryAfter}\r\n`
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${retry}Content-Length: 0\r\nConnection: close\r\n\r\n`)
}
