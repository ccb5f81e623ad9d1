// Sends one request of a row on its own connection, and reads any valid HTTP answer.

import { type ClientRequest, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { NoAnswer } from './failures.ts'
import { type Answer, type Credentials, type Field, fieldsOf, fillIn, type RowRequest } from './message.ts'

export interface Target {
  /** Base URL of the request paths. */
  readonly base: URL
  readonly credentials: Credentials
  /** Time limit of a request, from connecting to the last byte of the answer. */
  readonly timeoutMs: number
  readonly answerBytesMax: number
}

/** How long a server may take to close the connection of an answer that has no body. */
const surplusMs = 100

/** Throws NoAnswer. */
export function send(target: Target, parts: RowRequest): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  let wasConnected = false
  const fail = (message: string, cause?: unknown): void => {
    clearTimeout(timer)
    reject(new NoAnswer(message, wasConnected, { cause }))
    request?.destroy()
  }
  let request: ClientRequest | undefined
  const timer = setTimeout(() => fail(`no answer within ${target.timeoutMs / 1_000} s`), target.timeoutMs)
  try {
    request = open(target, parts)
  } catch (cause) {
    fail(`the request could not be sent: ${messageOf(cause)}`, cause)
    return promise
  }
  let answered: IncomingMessage | undefined
  const received: Buffer[] = []
  request.on('socket', (socket) => {
    socket.on('data', (bytes: Buffer) => received.push(bytes))
    socket.once(target.base.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      wasConnected = true
    })
  })
  request.on('error', (cause) => {
    // Writing to a server that has already answered may fail, which is not an error.
    if (answered === undefined) fail(explain(cause, wasConnected), cause)
  })
  request.on('response', (response) => {
    answered = response
    const { statusCode: status = 0, socket } = response
    const hasNoBody = parts.method === 'HEAD' || status === 204 || status === 304
    const reading = hasNoBody
      ? readSurplus(socket, received)
      : readBody(response, target.answerBytesMax, parts.isEnough)
    reading.then(
      (body) => {
        clearTimeout(timer)
        resolve({ status, fields: pairsOf(response.rawHeaders), body })
        request.destroy()
      },
      (cause) => fail(`the answer broke off: ${messageOf(cause)}`, cause),
    )
  })
  write(request, parts)
  return promise
}

function open({ base, credentials }: Target, parts: RowRequest): ClientRequest {
  const own = fieldsOf(parts)
  const host: readonly Field[] = own.some(([name]) => name === 'Host') ? [] : [['Host', base.host]]
  const fields: readonly Field[] = [...host, ...own, ['Connection', 'close']]
  const options: RequestOptions = {
    method: parts.method ?? 'POST',
    path: base.pathname.replace(/\/$/, '') + fillIn(parts.target ?? '/plants', credentials),
    // Values are sent as Latin-1, byte for byte.
    headers: fields.flatMap(([name, value]) => [name, fillIn(value, credentials)]),
    agent: false,
  }
  return (base.protocol === 'https:' ? httpsRequest : httpRequest)(base, options)
}

function write(request: ClientRequest, { body, chunkBytes }: RowRequest): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : (body ?? Buffer.alloc(0))
  if (chunkBytes !== undefined) {
    for (let at = 0; at < bytes.length; at += chunkBytes) request.write(bytes.subarray(at, at + chunkBytes))
  }
  request.end(chunkBytes === undefined ? bytes : undefined)
}

/** The bytes after the head of an answer that must have no body, which Node.js drops. */
async function readSurplus(socket: Socket, received: readonly Buffer[]): Promise<Buffer> {
  const { promise: isClosed, resolve: close } = Promise.withResolvers<void>()
  socket.once('close', close)
  await Promise.race([isClosed, sleep(surplusMs, undefined, { ref: false })])
  // Before it there may be interim answers.
  const heads = /^(?:HTTP\/1\.\d 1.*?\r\n\r\n)*.*?\r\n\r\n/s
  return Buffer.from(Buffer.concat(received).toString('latin1').replace(heads, ''), 'latin1')
}

async function readBody(
  response: IncomingMessage,
  bytesMax: number,
  isEnough: RowRequest['isEnough'],
): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of response) {
    parts.push(part)
    length += part.length
    if (length > bytesMax) throw new Error(`it has more than ${bytesMax} bytes`)
    if (isEnough?.(Buffer.concat(parts).toString()) === true) break
  }
  return Buffer.concat(parts)
}

function pairsOf(raw: readonly string[]): readonly Field[] {
  return Array.from({ length: raw.length / 2 }, (_, index) => [raw[2 * index] ?? '', raw[2 * index + 1] ?? ''])
}

function explain(cause: Error, wasConnected: boolean): string {
  const code = codeOf(cause) ?? ''
  if (code.startsWith('HPE_')) return `the answer is not HTTP: ${cause.message.replace(/^Parse Error: /, '')}`
  if (wasConnected && code === 'ECONNRESET') return 'the connection was closed without an answer'
  // Several addresses were tried, each with its own failure.
  if (cause instanceof AggregateError) return cause.errors.map(messageOf).join('; ')
  return messageOf(cause)
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message || codeOf(cause) || cause.name : String(cause)
}

function codeOf(cause: Error): string | undefined {
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
}
