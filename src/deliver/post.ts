// Sends one change to a receiver, signed as Standard Webhooks 1.0 has it. Follows no redirects, and reads a bounded part
// of the answer.

import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { Webhook as Signer } from 'standardwebhooks'
import { Agent, buildConnector, type Dispatcher, errors, request } from 'undici'
import type { Timer } from '../domain/clock.ts'
import { codeOf, messageOf } from '../domain/errors.ts'
import type { Webhook } from '../domain/webhook.ts'
import type { Limits } from '../limits.ts'

export interface Message {
  /** The same each time that it is sent. Contains no full stop. */
  readonly id: string
  readonly body: string
}

export interface PostOptions {
  readonly hook: Pick<Webhook, 'url' | 'secrets'>
  readonly message: Message
  /** The value of User-Agent. */
  readonly userAgent: string
  readonly clock: Timer
  readonly limits: Limits
  readonly agent: Agent
  /** Ends the request at once. */
  readonly signal: AbortSignal
}

export interface PostAnswer {
  /** Undefined if there was no answer. */
  readonly status?: number | undefined
  /** Whether the receiver has accepted the message. */
  readonly isAccepted: boolean
  /** The status, or why there was no answer. */
  readonly outcome: string
  /** The value of Retry-After in milliseconds; it may be negative. */
  readonly retryAfterMs?: number | undefined
}

/** The connections of one webhook. @param mayStillSend asked when a connection is open, before the first byte is sent. */
export function agentFor(limits: Limits, mayStillSend: () => boolean): Agent {
  const connect = buildConnector({ timeout: limits.webhookAnswerMsMax, lookup: lookUpOnce, allowH2: false })
  return new Agent({
    connections: limits.webhookInFlightMax,
    // The clock of `post` ends what takes too long, whatever it is.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (options, callback) =>
      connect(options, (...[error, socket]) => {
        if (error !== null) return callback(error, null)
        if (mayStillSend()) return callback(null, socket)
        socket.destroy()
        callback(new Error('another server has taken over'), null)
      }),
  })
}

/** Connections that the receiver may have closed before a request is taken to fail. */
const attemptsMax = 3

/** Never rejects, and ends with its own clock whatever the receiver does. */
export async function post(options: PostOptions): Promise<PostAnswer> {
  const { clock, limits, signal } = options
  const ending = new AbortController()
  const { promise: ended, resolve } = Promise.withResolvers<undefined>()
  const end = (): void => {
    ending.abort()
    resolve(undefined)
  }
  const cancel = clock.after(limits.webhookAnswerMsMax, end)
  signal.addEventListener('abort', end)
  if (signal.aborted) end()
  const answer: { head?: Dispatcher.ResponseData } = {}
  try {
    const failure = await Promise.race([exchange(options, answer, ending.signal), ended])
    const { head } = answer
    if (head === undefined) return { isAccepted: false, outcome: failure ?? lateOutcome(limits) }
    const status = head.statusCode
    const retryAfterMs = parseRetryAfter(head.headers['retry-after'], clock.wallMs())
    return { status, isAccepted: status >= 200 && status <= 299, outcome: String(status), retryAfterMs }
  } finally {
    cancel()
    signal.removeEventListener('abort', end)
  }
}

const lateOutcome = ({ webhookAnswerMsMax }: Limits): string => `no answer within ${webhookAnswerMsMax / 1_000} s`

/** Sends, and reads the answer. Returns why there was none. */
async function exchange(
  { hook, message, userAgent, clock, limits, agent }: PostOptions,
  answer: { head?: Dispatcher.ResponseData },
  signal: AbortSignal,
): Promise<string | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const headers = { ...signedFields(message, hook, clock.wallMs()), 'user-agent': userAgent }
      answer.head = await request(hook.url, { method: 'POST', headers, body: message.body, dispatcher: agent, signal })
    } catch (error) {
      if (signal.aborted) return undefined
      // The receiver has closed an idle connection meanwhile.
      const isReused = error instanceof errors.SocketError && (error.socket?.bytesRead ?? 0) > 0
      if (isReused && attempt < attemptsMax) continue
      return messageOf(error) || codeOf(error) || 'no answer'
    }
    let bytes = 0
    try {
      for await (const chunk of answer.head.body) {
        bytes += chunk.length
        if (bytes > limits.webhookAnswerBytesMax) break
      }
    } catch {
      // The status counts, however the answer ends.
    }
    return undefined
  }
}

/** The fields of a message: one signature for each valid secret, so that a receiver may know the old or the new one. */
export function signedFields(
  { id, body }: Message,
  { secrets }: Pick<Webhook, 'secrets'>,
  nowMs: number,
): Readonly<Record<string, string>> {
  const valid = secrets.filter(({ endsAtMs = Number.POSITIVE_INFINITY }) => nowMs < endsAtMs)
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(nowMs / 1_000)),
    'webhook-signature': valid.map(({ secret }) => new Signer(secret).sign(id, new Date(nowMs), body)).join(' '),
  }
}

/** A number of seconds, or a date (RFC 9110, section 10.2.3). */
function parseRetryAfter(field: string | string[] | undefined, nowMs: number): number | undefined {
  if (typeof field !== 'string') return undefined
  const ms = /^\d+$/.test(field) ? Number(field) * 1_000 : Date.parse(field) - nowMs
  return Number.isNaN(ms) ? undefined : ms
}

const lookUps = new Map<string, Promise<readonly LookupAddress[]>>()

/**
 * Looks a name up once for all connections that want it: a look-up that hangs holds one of the few threads that the
 * process has for such work.
 */
const lookUpOnce: LookupFunction = (hostname, options, callback) => {
  const found = lookUps.get(hostname) ?? lookup(hostname, { all: true }).finally(() => lookUps.delete(hostname))
  lookUps.set(hostname, found)
  found.then(
    ([first, ...others]) => {
      if (options.all === true || first === undefined) callback(null, [...(first ? [first] : []), ...others])
      else callback(null, first.address, first.family)
    },
    (error) => callback(error, ''),
  )
}
