// Sends one webhook. Follows no redirects, and reads a bounded part of the answer.

import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import type { Clock } from '../domain/clock.ts'
import { codeOf, messageOf } from '../domain/errors.ts'
import type { Webhook } from '../domain/webhook.ts'
import { type Message, signedFields } from './signature.ts'

export interface PostLimits {
  /** How long an answer may take. */
  readonly webhookAnswerMsMax: number
  readonly webhookAnswerBytesMax: number
}

export interface PostOptions {
  readonly hook: Pick<Webhook, 'url' | 'secrets'>
  readonly message: Message
  /** The value of User-Agent. */
  readonly userAgent: string
  readonly clock: Clock
  readonly limits: PostLimits
  readonly agent: http.Agent | undefined
  /** Ends the request. */
  readonly signal: AbortSignal
  /** Asked once the connection is open, before the first byte is sent. */
  readonly mayStillSend: () => boolean
}

export interface PostAnswer {
  /** Undefined if there was no answer. */
  readonly status?: number
  /** Whether the receiver has accepted the message. */
  readonly isAccepted: boolean
  /** The status, or why there was no answer. */
  readonly outcome: string
  /** The value of Retry-After in milliseconds. */
  readonly retryAfterMs?: number
}

/** Keeps connections of one webhook open. */
export function agentFor(url: string): http.Agent {
  return url.startsWith('https:') ? new https.Agent({ keepAlive: true }) : new http.Agent({ keepAlive: true })
}

/** Never rejects. */
export async function post(options: PostOptions): Promise<PostAnswer> {
  const { webhookAnswerMsMax, webhookAnswerBytesMax } = options.limits
  const timeout = AbortSignal.timeout(webhookAnswerMsMax)
  const signal = AbortSignal.any([options.signal, timeout])
  for (;;) {
    const request = begin(options, signal)
    try {
      const response = await responseTo(request)
      drain(response, webhookAnswerBytesMax)
      const { statusCode: status = 0, headers } = response
      const retryAfterMs = parseRetryAfter(headers['retry-after'])
      const isAccepted = status >= 200 && status <= 299
      return { status, isAccepted, outcome: String(status), ...(retryAfterMs !== undefined && { retryAfterMs }) }
    } catch (error) {
      // The other side has closed an idle connection meanwhile.
      if (request.reusedSocket && codeOf(error) === 'ECONNRESET' && !signal.aborted) continue
      const outcome = timeout.aborted ? `no answer within ${webhookAnswerMsMax / 1_000} s` : messageOf(error)
      return { isAccepted: false, outcome }
    }
  }
}

function begin(options: PostOptions, signal: AbortSignal): ClientRequest {
  const { hook, message, userAgent, clock, agent, mayStillSend } = options
  const { url } = hook
  const { body } = message
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'user-agent': userAgent,
    ...signedFields(message, hook, clock.wallMs()),
  }
  const request = (url.startsWith('https:') ? https : http).request(url, { method: 'POST', headers, agent, signal })
  request.once('socket', (socket: Socket & { readonly secureConnecting?: boolean }) => {
    const go = (): unknown =>
      mayStillSend() ? request.end(body) : request.destroy(new Error('another server has taken over'))
    if (socket.secureConnecting === true) socket.once('secureConnect', go)
    else if (socket.connecting) socket.once('connect', go)
    else go()
  })
  return request
}

function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request.once('response', resolve)
  // Errors may follow the answer, whose status counts.
  request.on('error', reject)
  return promise
}

function drain(response: IncomingMessage, bytesMax: number): void {
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > bytesMax) response.destroy()
  })
  response.on('error', () => {})
}

/** A number of seconds, or a date (RFC 9110, section 10.2.3). */
function parseRetryAfter(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now()
  return ms > 0 ? ms : undefined
}
