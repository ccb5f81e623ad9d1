// Webhooks: requests that send each change of a plant to another service (openapi.yaml, `webhooks`).

import type { ChangeKind } from './change.ts'

export interface Webhook {
  /** `hook_` and 12 characters. */
  readonly id: string
  readonly name: string
  /** Where the changes are sent: https, or http to this machine. */
  readonly url: string
  /** The kinds of changes that are sent. */
  readonly kinds: readonly ChangeKind[]
  /** The secrets that sign each request, newest first (Standard Webhooks 1.0). */
  readonly secrets: readonly WebhookSecret[]
  /** All times are milliseconds since 1970, by the wall clock. */
  readonly createdAtMs: number
  /** Present while nothing is sent. */
  readonly paused?: WebhookPause
  readonly progress: WebhookProgress
  /** The running server that sends. It notices when another program has removed it, and starts again from here. */
  readonly owner?: string
}

/** A webhook as it is stored. Each write counts the version up. */
export interface StoredWebhook extends Webhook {
  readonly version: number
}

export interface WebhookSecret {
  /** `whsec_` and 32 random bytes in base64. */
  readonly secret: string
  /** When it was replaced by another: until when it still signs. */
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
  failing: 'its receiver has not accepted a change for three days',
  lost: 'the log does not have its next changes any more',
} as const

export type PauseReason = keyof typeof pauseReasons

export interface WebhookProgress {
  /** The position up to which the log was read. Undefined: nothing yet, it begins with the oldest change. */
  readonly after?: string | undefined
  /** Changes up to that position that were not accepted yet, in the order of the log. */
  readonly pending: readonly Delivery[]
  /** The outcome of the last request. */
  readonly last?: LastAnswer
}

/** A change that is to be sent. */
export interface Delivery {
  /** The position before the change, from which it can be read again. */
  readonly after: string | undefined
  readonly position: string
  /** In decimal digits. */
  readonly plantId: string
  /** When the change was made. */
  readonly atMs: number
  /** Requests that failed. */
  readonly tries: number
  /** The earliest time of the next request. */
  readonly dueMs: number
  /** When the first request failed. */
  readonly failingSinceMs?: number
}

export interface LastAnswer {
  readonly atMs: number
  readonly isAccepted: boolean
  /** The status of the answer, or why there was none. */
  readonly outcome: string
}

/** What a server knows of a webhook. */
export interface WebhookFigures {
  readonly id: string
  readonly isPaused: boolean
  /** How old the oldest change is that was not accepted; undefined if another server sends. */
  readonly behindMs: number | undefined
}

/** The position from which the log is needed; undefined: from its beginning. */
export function neededAfter({ pending: [oldest], after }: WebhookProgress): string | undefined {
  return oldest === undefined ? after : oldest.after
}
