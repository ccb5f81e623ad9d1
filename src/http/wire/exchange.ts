// A request and its answer, as the log and the metrics see them.

import type { IncomingMessage } from 'node:http'
import type { Operation } from '../../contract/document.ts'
import type { Caller } from '../../domain/caller.ts'
import type { AppError } from '../../domain/errors.ts'
import type { RequestFinished } from '../../domain/events.ts'

export interface Exchange {
  readonly requestId: string
  readonly method: string
  /** Safe to show (`shownPath`). */
  readonly path: string
  readonly startedAtMs: number
  readonly clientAddress: string | undefined
  operation?: Operation
  caller?: Caller
  /** The plant to create, replace or delete. */
  plantId?: bigint
  failure?: AppError
  /** Whether it was already counted against the rate limit. */
  isCounted?: boolean
}

const requestId = Symbol('requestId')
const exchangeOfRequest = Symbol('exchange')
const pathCharactersShown = 200
const tokenPattern = /(plt_|eyJ)[\w.-]+/g

interface KnownMessage extends IncomingMessage {
  [requestId]?: string
  [exchangeOfRequest]?: Exchange
}

/** Creates the function that returns a request's id, the same from its first byte to its last event. */
export function requestIdsFrom(newRequestId: () => string): (request: IncomingMessage) => string {
  return (request: KnownMessage) => {
    request[requestId] ??= newRequestId()
    return request[requestId]
  }
}

export function noteExchange(request: KnownMessage, exchange: Exchange): void {
  request[exchangeOfRequest] = exchange
}

/** Records why the server refused a request on its own, such as for a body that broke or timed out. */
export function noteRefusal(request: KnownMessage, error: AppError): void {
  const exchange = request[exchangeOfRequest]
  if (exchange !== undefined) exchange.failure ??= error
}

/** Header fields of every answer: the request id, and no content sniffing (Fetch standard, section 3.6). */
export function commonFields(requestId: string): Readonly<Record<string, string>> {
  return { 'x-request-id': requestId, 'x-content-type-options': 'nosniff' }
}

/** Caching for answers that need a token: only the client may cache them, and must revalidate. */
export const privateFields = { 'cache-control': 'private, no-cache' } as const

/** The event of an answered request. @param bytes of the body. */
export function finishedEvent(exchange: Exchange, status: number, bytes: number, isStream = false): RequestFinished {
  const { requestId, method, operation, path, startedAtMs, failure, clientAddress, plantId } = exchange
  const known = exchange.caller ?? failure?.caller
  return {
    kind: 'requestFinished',
    requestId,
    method,
    ...(operation !== undefined && { operation: operation.id }),
    path,
    status,
    durationMs: performance.now() - startedAtMs,
    ...(isStream && { isStream }),
    bytes,
    clientAddress,
    tokenId: known?.id,
    tokenName: known?.name,
    plantId: plantId?.toString(),
    ...(failure !== undefined && { error: failure.code, cause: failure.cause }),
  }
}

/**
 * The path of a target, safe to show: without the query, which may contain secrets, without tokens, and truncated. It
 * is safe on a terminal, because the parser rejects all but visible ASCII.
 */
export function shownPath(target: string): string {
  const end = target.indexOf('?')
  const path = end === -1 ? target : target.slice(0, end)
  const shown = path.includes('plt_') || path.includes('eyJ') ? path.replaceAll(tokenPattern, '$1...') : path
  return shown.length > pathCharactersShown ? shown.slice(0, pathCharactersShown) : shown
}
