// Everything observable that happens, said once. Log and metrics choose what they take of it. No event holds a secret.

import type { ErrorCode } from './errors.ts'

export type ServiceEvent =
  | { readonly kind: 'serverListening'; readonly url: string; readonly store: string; readonly version: string }
  /** Something about the server that its operator has to know. */
  | { readonly kind: 'serverWarning'; readonly message: string }
  /** New connections get the certificate that its file has now. */
  | { readonly kind: 'certificateLoaded'; readonly expires: string }
  | { readonly kind: 'serverStopping'; readonly reason: string }
  | { readonly kind: 'serverStopped' }
  | { readonly kind: 'storeFailed'; readonly cause: unknown }
  /** The store's database cannot be reached; requests are refused until it can. */
  | { readonly kind: 'storeAway'; readonly cause: unknown }
  | { readonly kind: 'storeBack'; readonly awayMs: number }
  /** Something about the store that its operator has to know. */
  | { readonly kind: 'storeWarning'; readonly message: string }
  /** Changes of the store were committed, or refused, together. */
  | { readonly kind: 'changesCommitted'; readonly changes: number; readonly durationMs: number }
  /** The keys of JWTs cannot be had; JWTs whose key is known are good all the same. The cause is a text. */
  | { readonly kind: 'jwtKeysAway'; readonly place: string; readonly cause: string }
  | { readonly kind: 'jwtKeysBack'; readonly place: string; readonly awayMs: number }
  | RequestFinished
  | RequestAborted
  | RequestRefused

/** A request was answered. */
export interface RequestFinished {
  readonly kind: 'requestFinished'
  readonly requestId: string
  readonly method: string
  /** Absent for a path or method that the contract does not have. */
  readonly operation?: string
  /** The path asked for, without its query, cut to a sane length. */
  readonly path: string
  readonly status: number
  readonly durationMs: number
  /** Bytes of the answer's body. */
  readonly bytes: number
  /** The client's address, as far as trusted proxies know it; absent over a Unix socket. */
  readonly clientAddress?: string | undefined
  /** The credential that was let in, by its id and name. */
  readonly tokenId?: string | undefined
  readonly tokenName?: string | undefined
  /** The plant that was to be created, replaced or deleted, in decimal digits. */
  readonly plantId?: string | undefined
  /** The span that the request belongs to (W3C Trace Context, section 3.2). */
  readonly traceparent?: string | undefined
  readonly error?: ErrorCode
  /** What lies behind a 5xx, or why a JWT was refused; for the log alone. */
  readonly cause?: unknown
}

/** A connection ended before the answer of a request was sent as a whole; what it asked for may have been done. */
export interface RequestAborted {
  readonly kind: 'requestAborted'
  readonly requestId: string
  readonly method: string
  readonly path: string
  /** The other end of the connection, which may be a proxy. */
  readonly clientAddress?: string | undefined
  readonly reason: AbortReason
}

/**
 * - `clientLeft`: the client closed the connection.
 * - `notRead`: for longer than allowed it read nothing of what it was sent.
 * - `memoryShort`: too much waited to be read, and this client was the slowest reader.
 * - `answerLate`: the answer took longer than allowed.
 * - `serverStopped`: the server ended, and its patience too.
 */
export type AbortReason = 'clientLeft' | 'notRead' | 'memoryShort' | 'answerLate' | 'serverStopped'

/** Something came over a connection that never became a request: not HTTP, too large, or too slow. */
export interface RequestRefused {
  readonly kind: 'requestRefused'
  readonly requestId: string
  readonly status: number
  /** The other end of the connection, which may be a proxy. */
  readonly clientAddress?: string | undefined
  readonly error: ErrorCode
}

export type Observe = (event: ServiceEvent) => void
