// Webhooks, which send each change of a plant to another service in a request (openapi.yaml, `webhooks`).

import { type ChangeKind, changeKinds } from './change.ts'

export interface Webhook {
  /** `hook_` and 12 characters. */
  readonly id: string
  readonly name: string
  /** Where the changes are sent: https, or http to this machine. */
  readonly url: string
  readonly kinds: readonly ChangeKind[]
  /** The secrets that sign each request, newest first (Standard Webhooks 1.0). */
  readonly secrets: readonly WebhookSecret[]
  /** All times are milliseconds since 1970, by the wall clock. */
  readonly createdAtMs: number
  /** Present while nothing is sent. */
  readonly paused?: WebhookPause
  readonly progress: WebhookProgress
  /** The server that sends. If another program removes this field, the server starts again from the stored progress. */
  readonly owner?: string
}

/** A webhook as it is stored. Each write increments the version. */
export interface StoredWebhook extends Webhook {
  readonly version: number
}

export interface WebhookSecret {
  /** `whsec_` and 32 random bytes in base64. */
  readonly secret: string
  /** Present once it was replaced: the time until which it still signs. */
  readonly endsAtMs?: number
}

export interface WebhookPause {
  readonly reason: PauseReason
  readonly atMs: number
}

/** Why nothing is sent, as a clause. */
export const pauseReasons = {
  operator: 'an operator paused it',
  gone: 'its receiver answered 410',
  failing: 'its receiver has accepted nothing for three days',
  lost: 'the log does not have its next changes any more',
  damaged: 'its row is damaged; remove it',
} as const

export type PauseReason = keyof typeof pauseReasons

export interface WebhookProgress {
  /**
   * All changes up to this position were accepted, except changes of blocked plants. Undefined if none was: the webhook
   * begins with the oldest change.
   */
  readonly after?: string | undefined
  readonly blocked: readonly BlockedPlant[]
  /** Consecutive failures of the receiver, each followed by a pause. */
  readonly failures: number
  /** The outcome of the last request. */
  readonly last?: LastAnswer
}

/** A plant with a change that was not accepted. Its changes stay in the log. */
export interface BlockedPlant {
  /** In decimal digits. */
  readonly plantId: string
  /** The position before the change that is sent next. */
  readonly after?: string | undefined
  /** The position of the last of its changes up to `WebhookProgress.after`. */
  readonly until: string
  /** When the change that is sent next was made. */
  readonly atMs: number
  /** How many requests for that change failed. */
  readonly tries: number
}

export interface LastAnswer {
  readonly atMs: number
  readonly isAccepted: boolean
  /** The status of the answer, or why there was none. */
  readonly outcome: string
}

/** The state of a webhook, for the metrics. */
export interface WebhookFigures {
  readonly id: string
  readonly isPaused: boolean
  /** Age of the oldest change that was not accepted; undefined if another server sends. */
  readonly behindMs: number | undefined
}

/** Whether a position of the log is after another one. */
export function isAfter(position: string, other: string): boolean {
  return numberOf(position) > numberOf(other)
}

function numberOf(position: string): bigint {
  return BigInt(position.slice(0, position.indexOf('-')))
}

/** The progress of a webhook that begins after a position. */
export function beginAfter(after: string | undefined): WebhookProgress {
  return { ...(after !== undefined && { after }), blocked: [], failures: 0 }
}

/** What is left of a webhook if somebody has damaged its row. */
export const damagedWebhook: Omit<Webhook, 'id'> = {
  name: '(damaged)',
  url: '',
  kinds: [],
  secrets: [],
  createdAtMs: 0,
  paused: { reason: 'damaged', atMs: 0 },
  progress: beginAfter(undefined),
}

/** Whether a stored webhook has everything that sending needs. May throw if a part of it has another type. */
export function isWhole({ name, url, kinds, secrets, createdAtMs, paused, progress }: Webhook): boolean {
  const { blocked, failures, last } = progress
  return (
    typeof name === 'string' &&
    URL.canParse(url) &&
    kinds.every((kind) => changeKinds.includes(kind)) &&
    secrets.every(({ secret }) => typeof secret === 'string') &&
    (paused === undefined || paused.reason in pauseReasons) &&
    (last === undefined || typeof last.outcome === 'string') &&
    // isAfter throws at what is no position.
    blocked.every(({ plantId, until }) => typeof plantId === 'string' && !isAfter(until, until)) &&
    [createdAtMs, failures, last?.atMs ?? 0, ...blocked.flatMap(({ atMs, tries }) => [atMs, tries])].every(
      Number.isSafeInteger,
    )
  )
}
