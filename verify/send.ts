// Sends one request of a row on its own connection, and reads any valid HTTP answer. Waits for a server that is busy, as it
// asks, and sends the request again.

import { once } from 'node:events'
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorNumberOf } from './checks.ts'
import { type Answer, type Credentials, type Field, fieldOf, fillIn, type RowRequest } from './message.ts'
import { NoAnswer } from './results.ts'

export interface Target {
  /** Base URL of the request paths. */
  readonly base: URL
  readonly credentials: Credentials
  /** Time limit of a request, from connecting to the last byte of the answer. */
  readonly timeoutMs: number
}

export interface WaitOptions {
  /** Ends a wait early. */
  readonly signal?: AbortSignal | undefined
  /** Whether the request is safe to repeat even if it took effect. */
  readonly isRepeatable?: boolean
  /** Receives each answer that causes a wait. */
  readonly heard?: (answer: Answer) => void
}

const answerBytesMax = 8 * 1024 * 1024
const retryMsMin = 1_000
/** How long a request may wait in total, in multiples of its time limit. */
const waitTimeouts = 6
/** The one error of the store after which a change may have taken effect. */
const storeUnavailable = 50302n

export class Patience {
  readonly #target: Target
  /** Whether the last wait was in vain. If so, waiting stops until another answer comes, so that a run ends. */
  #isSpent = false

  constructor(target: Target) {
    this.#target = target
  }

  /** Allows waiting again. */
  renew(): void {
    this.#isSpent = false
  }

  /** Gives NoAnswer also if the server was busy for too long. */
  async send(request: RowRequest, { signal, isRepeatable, heard }: WaitOptions = {}): Promise<Answer | NoAnswer> {
    const isSafe = isRepeatable === true || ['GET', 'HEAD', 'OPTIONS'].includes(request.method ?? 'POST')
    const waitMsMax = waitTimeouts * this.#target.timeoutMs
    for (let waitedMs = 0; ; ) {
      const answer = await send(this.#target, request)
      if (answer instanceof NoAnswer) return answer
      if (!isBusy(answer, isSafe)) {
        this.#isSpent = false
        return answer
      }
      heard?.(answer)
      // RFC 9110, section 10.2.3. A date or a missing field counts as the minimum wait.
      const retryAfter = fieldOf(answer, 'retry-after') ?? ''
      const waitMs = Math.max(/^[0-9]+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : 0, retryMsMin)
      waitedMs += waitMs
      if (waitedMs > waitMsMax) this.#isSpent = true
      if (this.#isSpent || signal?.aborted === true) {
        const asks = `the server answers ${answer.status} and asks to wait another ${waitMs / 1_000} s`
        const limit = `past the ${waitMsMax / 1_000} s that one request may wait`
        const message = `${asks}, ${limit}; increase --timeout to wait longer`
        return new NoAnswer(message, true, { answer })
      }
      await sleep(waitMs, undefined, { ...(signal && { signal }) }).catch(() => {})
    }
  }
}

/** After storeUnavailable, a change may have taken effect; after any other refusal of a busy server, it has not. */
function isBusy(answer: Answer, isSafe: boolean): boolean {
  if (answer.status === 429) return true
  if (answer.status !== 503 || fieldOf(answer, 'retry-after') === undefined) return false
  return isSafe || errorNumberOf(answer) !== storeUnavailable
}

/** How long a server may take to close the connection of an answer that has no body. */
const surplusMs = 100

async function send(target: Target, parts: RowRequest): Promise<Answer | NoAnswer> {
  const signal = AbortSignal.timeout(target.timeoutMs)
  let [wasConnected, failed] = [false, 'the request could not be sent']
  let request: ClientRequest | undefined
  try {
    request = open(target, parts, signal)
    failed = ''
    const received: Buffer[] = []
    request.on('socket', (socket) => {
      socket.on('data', (bytes: Buffer) => received.push(bytes))
      socket.once(target.base.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        wasConnected = true
      })
    })
    const responding = once(request, 'response')
    // Without a listener, Node.js would close the connection and emit nothing.
    request.once('upgrade', (_, socket) => {
      socket.destroy()
      request?.emit('error', new Error('the server switched protocols (101)'))
    })
    // Writing to a server that has already answered may fail, which is not an error.
    request.on('error', () => {})
    const bytes = Buffer.from(parts.body ?? '')
    const { chunkBytes } = parts
    for (let at = 0; chunkBytes !== undefined && at < bytes.length; at += chunkBytes)
      request.write(bytes.subarray(at, at + chunkBytes))
    // In one piece with the head: a server may close the connection when it has that.
    request.end(chunkBytes === undefined ? bytes : undefined)
    const [response] = (await responding) as [IncomingMessage]
    failed = 'the answer broke off'
    const { statusCode: status = 0, socket, rawHeaders: raw } = response
    const hasNoBody = parts.method === 'HEAD' || status === 204 || status === 304
    const body = await (hasNoBody ? readSurplus(socket, received) : readBody(response, parts.isEnough))
    const fields = Array.from({ length: raw.length / 2 }, (_, at): Field => [raw[2 * at] ?? '', raw[2 * at + 1] ?? ''])
    return { status, fields, body }
  } catch (cause) {
    const why = failed === '' ? explain(cause as Error, wasConnected) : `${failed}: ${messageOf(cause as Error)}`
    const message = signal.aborted ? `no answer within ${target.timeoutMs / 1_000} s` : why
    return new NoAnswer(message, wasConnected, { cause })
  } finally {
    request?.destroy()
  }
}

function open({ base, credentials }: Target, parts: RowRequest, signal: AbortSignal): ClientRequest {
  const { method = 'POST', target = '/plants', headers, lines = [], body, chunkBytes } = parts
  const length = String(Buffer.byteLength(body ?? ''))
  const sized = chunkBytes === undefined ? { 'Content-Length': length } : { 'Transfer-Encoding': 'chunked' }
  const fields: RowRequest['headers'] = {
    Host: base.host,
    Authorization: 'Bearer $TOKEN',
    ...(body !== undefined && { 'Content-Type': 'application/json', ...sized }),
    ...headers,
  }
  const further = lines.map((line) => line.split(': ', 2) as [string, string])
  const all = [...Object.entries(fields), ...further, ['Connection', 'close'] as const]
  return (base.protocol === 'https:' ? httpsRequest : httpRequest)(base, {
    method,
    path: base.pathname.replace(/\/$/, '') + fillIn(target, credentials),
    // Values are sent as Latin-1, byte for byte.
    headers: all.flatMap(([name, value]) => (value === undefined ? [] : [name, fillIn(value, credentials)])),
    agent: false,
    signal,
  })
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

async function readBody(response: IncomingMessage, isEnough: RowRequest['isEnough']): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of response) {
    parts.push(part)
    length += part.length
    if (length > answerBytesMax) throw new Error(`it has more than ${answerBytesMax} bytes`)
    if (isEnough?.(Buffer.concat(parts).toString()) === true) break
  }
  return Buffer.concat(parts)
}

function explain(cause: NodeJS.ErrnoException, wasConnected: boolean): string {
  const { code = '' } = cause
  if (code.startsWith('HPE_')) return `the answer is not HTTP: ${cause.message.replace(/^Parse Error: /, '')}`
  if (wasConnected && code === 'ECONNRESET') return 'the connection was closed without an answer'
  // Several addresses were tried, each with its own failure.
  return cause instanceof AggregateError ? cause.errors.map(messageOf).join('; ') : messageOf(cause)
}

function messageOf({ message, code, name }: NodeJS.ErrnoException): string {
  return message || code || name
}
