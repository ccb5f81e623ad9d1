// Sends one change to a receiver, signed as Standard Webhooks 1.0 specifies. Follows no redirects, and reads a bounded
// part of the answer.

import { createHmac } from 'node:crypto'
import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { Agent, buildConnector, errors } from 'undici'
import type { Timer } from '../domain/clock.ts'
import { codeOf, messageOf } from '../domain/errors.ts'
import type { Webhook } from '../domain/webhook.ts'
import type { Limits } from '../limits.ts'

interface Message {
  /** The same in every attempt. Contains no full stop, which separates the parts of a signature. */
  readonly id: string
  readonly body: string
}

export interface SenderOptions {
  /** The value of User-Agent. */
  readonly userAgent: string
  readonly clock: Timer
  readonly limits: Limits
  /** Called before each attempt, and once its connection is open, before the first byte. */
  readonly mayStillSend: () => boolean
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

/** Attempts before a request counts as failed, if the receiver closes the connection of each. */
const attemptsMax = 3

export type Sender = ReturnType<typeof openSender>

export function openSender({ userAgent, clock, limits, mayStillSend }: SenderOptions) {
  const connect = buildConnector({ timeout: limits.webhookAnswerMsMax, lookup: lookUpOnce, allowH2: false })
  const agent = new Agent({
    connections: limits.webhookInFlightMax,
    // `post` limits the time of the whole request.
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
  return { post, close: () => agent.destroy() }

  /** Never rejects, and always ends within its time limit. */
  async function post(hook: Pick<Webhook, 'url' | 'secrets'>, message: Message): Promise<PostAnswer> {
    const { origin, pathname, search } = new URL(hook.url)
    const ending = new AbortController()
    const cancel = clock.after(limits.webhookAnswerMsMax, () => ending.abort())
    const { signal } = ending
    const request = { origin, path: pathname + search, method: 'POST', body: message.body, signal } as const
    let answer: PostAnswer = { isAccepted: false, outcome: `no answer within ${limits.webhookAnswerMsMax / 1_000} s` }
    try {
      for (let attempts = 1; mayStillSend(); attempts += 1) {
        try {
          const headers = { ...signedFields(message, hook, clock.wallMs()), 'user-agent': userAgent }
          const { statusCode: status, headers: fields, body } = await agent.request({ ...request, headers })
          const retryAfterMs = parseRetryAfter(fields['retry-after'], clock.wallMs())
          answer = { status, isAccepted: status <= 299, outcome: String(status), retryAfterMs }
          let bytes = 0
          for await (const chunk of body) {
            bytes += chunk.length
            if (bytes > limits.webhookAnswerBytesMax) break
          }
          return answer
        } catch (error) {
          // The status counts even if the body is cut short.
          if (signal.aborted || answer.status !== undefined) return answer
          // The receiver had closed an idle connection.
          const isReused = error instanceof errors.SocketError && (error.socket?.bytesRead ?? 0) > 0
          if (isReused && attempts < attemptsMax) continue
          return { ...answer, outcome: messageOf(error) || codeOf(error) || 'no answer' }
        }
      }
      return answer
    } finally {
      cancel()
    }
  }
}

/** The fields of a message: one signature for each valid secret, so that a receiver may use the old one or the new. */
function signedFields(
  { id, body }: Message,
  { secrets }: Pick<Webhook, 'secrets'>,
  nowMs: number,
): Readonly<Record<string, string>> {
  const seconds = Math.floor(nowMs / 1_000)
  const signatures = secrets
    .filter(({ endsAtMs = Number.POSITIVE_INFINITY }) => nowMs < endsAtMs)
    .map(({ secret }) => {
      const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
      return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`
    })
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatures.join(' '),
  }
}

/** Parses a number of seconds, or a date (RFC 9110, section 10.2.3). */
function parseRetryAfter(field: string | string[] | undefined, nowMs: number): number | undefined {
  if (typeof field !== 'string') return undefined
  const ms = /^\d+$/.test(field) ? Number(field) * 1_000 : Date.parse(field) - nowMs
  return Number.isNaN(ms) ? undefined : ms
}

const lookUps = new Map<string, Promise<readonly LookupAddress[]>>()

/** Looks a name up once for all connections: one that hangs occupies one of the process's few threads for such work. */
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
