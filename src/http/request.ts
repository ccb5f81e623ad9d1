// A request and its reply: the only two values between the bytes of a connection and the handler of an operation.

import type { Socket } from 'node:net'
import type { Operation } from '../contract/document.ts'
import type { Caller } from '../domain/caller.ts'
import type { AppError } from '../domain/errors.ts'
import type { RequestFinished } from '../domain/events.ts'

/** Header fields by lower-case name. */
export type Fields = Readonly<Record<string, string | undefined>>

export type Scheme = 'http' | 'https'

export interface Request {
  readonly id: string
  readonly method: string
  /** Path and query, or `*`. */
  readonly target: string
  /** Safe to show (`shownPath`). */
  readonly path: string
  readonly fields: Fields
  /** The host with optional port, as the client wrote it; undefined if absent (HTTP/1.0). */
  readonly host: string | undefined
  /** HTTP/1.0 has no 100 Continue. */
  readonly isHttp10: boolean
  /** The body: its bytes, or an object that reads them; undefined if there is none. */
  readonly body: Buffer | ArrivingBody | undefined
  readonly connection: RequestConnection
  /** Undefined over a Unix socket whose peer is not a trusted proxy. */
  readonly clientAddress: string | undefined
  readonly scheme: Scheme
  readonly startedAtMs: number
  // Set by the service, for the event that reports the request.
  operation: Operation | undefined
  caller: Caller | undefined
  plantId: bigint | undefined
  failure: AppError | undefined
  /** Whether nothing is left to charge: the request was charged to the rate limit, or is free. */
  isCounted: boolean
}

/** The parts of a request that its parser provides. */
export type RequestHead = Pick<Request, 'method' | 'target' | 'fields' | 'host' | 'isHttp10' | 'body'>

/** A body that has not arrived completely. Both methods send 100 Continue to a client that waits for it. */
export interface ArrivingBody {
  /**
   * Resolves to the whole body.
   *
   * @throws AppError `bodyTooLarge` if its actual or announced length is over the limit; `malformedRequest` or
   * `requestTimeout` if its end does not arrive.
   */
  read(): Promise<Buffer>
  /** Discards the body. Rejects with AppError if the part that has arrived is broken. */
  skip(): Promise<void>
}

/** The connection of a request, which has one request at a time. */
export interface RequestConnection {
  readonly socket: Socket
  /** Whether the client has closed the connection, or its side of it. */
  readonly hasLeft: boolean
  /** Calls a listener once, when the reply is sent or the connection closed. */
  onceDone(listener: () => void): void
}

export interface Reply {
  readonly status: number
  /** By lower-case name; without Date, Connection and Keep-Alive, which the connection adds. */
  readonly fields: Readonly<Record<string, string>>
  /** If `isPage`, bytes do not share their buffer. The response to HEAD omits the body. */
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined
  /** Writes an endless body, in place of `body`. */
  readonly stream?: ((stream: ReplyStream) => void) | undefined
  /** Whether it is a page, whose bytes count as unread until they are sent. */
  readonly isPage?: boolean
  /** Whether nothing can follow on the connection. */
  readonly isLast?: boolean
}

/** The endless body of a reply whose head is sent. */
export interface ReplyStream {
  /** Whether the client has left. */
  readonly isOver: boolean
  readonly unreadBytes: number
  write(bytes: string | Uint8Array): void
  /** Ends it gracefully. */
  end(): void
  /** Closes its connection at once. */
  cut(): void
  /** Calls a listener once, when the connection is closed or the stream has ended. */
  onceDone(listener: () => void): void
}

/** The header fields of a reply so far, by lower-case name. */
export type ReplyFields = Record<string, string>

/** Header fields of every reply: the request id, and no content sniffing (Fetch standard, section 3.6). */
export function commonFields(requestId: string): ReplyFields {
  return { 'x-request-id': requestId, 'x-content-type-options': 'nosniff' }
}

/** Caching for replies that need a token: only the client may cache them, and must revalidate. */
export const privateFields = { 'cache-control': 'private, no-cache' } as const

/** The event of a request whose reply is sent. */
export function finishedEvent(request: Request, { status, fields }: Reply, isStream: boolean): RequestFinished {
  const { id, method, operation, path, startedAtMs, failure, clientAddress, plantId } = request
  const caller = request.caller ?? failure?.caller
  return {
    kind: 'requestFinished',
    requestId: id,
    method,
    ...(operation !== undefined && { operation: operation.id }),
    path,
    status,
    durationMs: performance.now() - startedAtMs,
    ...(isStream && { isStream }),
    bytes: isStream ? 0 : Number(fields['content-length'] ?? 0),
    clientAddress,
    tokenId: caller?.id,
    tokenName: caller?.name,
    plantId: plantId?.toString(),
    ...(failure !== undefined && { error: failure.code, cause: failure.cause }),
  }
}

const pathCharactersShown = 200
const tokenPattern = /(plt_|eyJ)[\w.-]+/g

/**
 * The path of a target, safe to show: without the query, which may contain secrets, without tokens, and truncated. It
 * is safe on a terminal, because parsers reject all but visible ASCII.
 */
export function shownPath(target: string): string {
  const end = target.indexOf('?')
  const path = end === -1 ? target : target.slice(0, end)
  const shown = path.includes('plt_') || path.includes('eyJ') ? path.replaceAll(tokenPattern, '$1...') : path
  return shown.length > pathCharactersShown ? shown.slice(0, pathCharactersShown) : shown
}
