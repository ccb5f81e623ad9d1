// All observable events. The log and the metrics each select the ones they need. No event contains a secret.

import type { ChangeKind } from './change.ts'
import type { ErrorCode } from './errors.ts'
import type { PauseReason } from './webhook.ts'

export type ServiceEvent =
  | { readonly kind: 'serverListening'; readonly url: string; readonly store: string; readonly version: string }
  /** A warning about the server, for its operator. */
  | { readonly kind: 'serverWarning'; readonly message: string }
  /** The certificate was reloaded from its file; new connections use it. */
  | { readonly kind: 'certificateLoaded'; readonly expires: string }
  | { readonly kind: 'serverStopping'; readonly reason: string }
  | { readonly kind: 'serverStopped' }
  | { readonly kind: 'storeFailed'; readonly cause: unknown }
  /** The database is unreachable. Requests are rejected until it is back. */
  | { readonly kind: 'storeAway'; readonly cause: unknown }
  | { readonly kind: 'storeBack'; readonly awayMs: number }
  /** A warning about the store, for its operator. */
  | { readonly kind: 'storeWarning'; readonly message: string }
  /** A batch of changes was committed or rejected. */
  | { readonly kind: 'changesCommitted'; readonly changes: number; readonly durationMs: number }
  /** A plant was changed by a request. */
  | { readonly kind: 'plantChanged'; readonly change: ChangeKind }
  /** The keys that verify JWTs cannot be fetched. JWTs with a known key are still accepted. `cause` is a message. */
  | { readonly kind: 'jwtKeysAway'; readonly place: string; readonly cause: string }
  | { readonly kind: 'jwtKeysBack'; readonly place: string; readonly awayMs: number }
  /** A webhook sends nothing more until an operator resumes it. */
  | { readonly kind: 'webhookPaused'; readonly webhook: string; readonly name: string; readonly reason: PauseReason }
  | WebhookSent
  | RequestFinished
  | RequestAborted
  | RequestRefused

/** A change was sent to the receiver of a webhook, which accepted it or not. */
interface WebhookSent {
  readonly kind: 'webhookSent'
  readonly webhook: string
  readonly name: string
  readonly position: string
  /** How often the change has been sent. */
  readonly tries: number
  readonly isAccepted: boolean
  /** The status of the answer, or why there was none. */
  readonly outcome: string
  readonly durationMs: number
  /** When it will be sent again. */
  readonly againInMs?: number
}

export interface RequestFinished {
  readonly kind: 'requestFinished'
  readonly requestId: string
  readonly method: string
  /** Absent for an unknown path or method. */
  readonly operation?: string
  /** The requested path without its query, truncated. */
  readonly path: string
  readonly status: number
  readonly durationMs: number
  /** The response was a stream. */
  readonly isStream?: true
  /** Size of the response body. */
  readonly bytes: number
  /** The client's address, as reported by trusted proxies; absent over a Unix socket. */
  readonly clientAddress?: string | undefined
  readonly tokenId?: string | undefined
  readonly tokenName?: string | undefined
  /** The id of the plant to create, replace or delete, in decimal digits. */
  readonly plantId?: string | undefined
  readonly error?: ErrorCode
  /** The cause of a 5xx, or why a JWT was rejected; for the log only. */
  readonly cause?: unknown
}

/** A connection ended before the complete response was sent. The request may have taken effect. */
export interface RequestAborted {
  readonly kind: 'requestAborted'
  readonly requestId: string
  readonly method: string
  readonly path: string
  /** The peer of the connection, possibly a proxy. */
  readonly clientAddress?: string | undefined
  readonly reason: AbortReason
}

/** Why a request was not answered in full, as a clause. */
export const abortReasons = {
  clientLeft: 'the client closed the connection',
  notRead: 'the client read nothing for too long',
  memoryShort: 'too many bytes waited to be read, and the client was the slowest reader',
  answerLate: 'the answer took longer than allowed',
  serverStopped: 'the server ended',
} as const

export type AbortReason = keyof typeof abortReasons

/** The input on a connection was not a valid request: not HTTP, too large, or too slow. */
export interface RequestRefused {
  readonly kind: 'requestRefused'
  readonly requestId: string
  readonly status: number
  /** The peer of the connection, possibly a proxy. */
  readonly clientAddress?: string | undefined
  readonly error: ErrorCode
}

export type Observe = (event: ServiceEvent) => void
