// The context of a request, kept with it from its first hook to its last.

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Operation, OperationId } from '../../contract/document.ts'
import type { Caller } from '../../domain/caller.ts'
import type { AppError } from '../../domain/errors.ts'
import type { RequestFinished } from '../../domain/events.ts'
import { isStream } from './parser-socket.ts'
import type { Peers } from './peers.ts'

export interface Exchange {
  operation?: Operation
  caller?: Caller
  /** The plant to create, replace or delete. */
  plantId?: bigint
  failure?: AppError
  /** Whether it was already counted against the rate limit. */
  isCounted?: boolean
}

/** A request that takes the shortcut (shortcut.ts). */
export interface PlainExchange {
  readonly requestId: string
  readonly operation: OperationId
  readonly method: string
  /** Contains no secrets, because paths of operations do not. */
  readonly path: string
  readonly startedAtMs: number
  readonly clientAddress: string | undefined
  readonly caller: Caller
  plantId?: bigint
  failure?: AppError
  isCounted?: boolean
}

const key = 'exchange'
const requestId = Symbol('requestId')
const refusal = Symbol('refusal')
const pathCharactersShown = 200
const tokenPattern = /(plt_|eyJ)[\w.-]+/g

/** Prepares an application for request contexts. */
export function declareExchange(app: FastifyInstance): void {
  app.decorateRequest(key, null)
}

export function beginExchange(request: FastifyRequest): void {
  request.setDecorator<Exchange>(key, {})
}

export function exchangeOf(request: FastifyRequest): Exchange {
  return request.getDecorator<Exchange>(key)
}

interface KnownMessage extends IncomingMessage {
  [requestId]?: string
  [refusal]?: AppError
}

/** Creates the function that returns a request's id, the same from its first byte to its last event. */
export function requestIdsFrom(newRequestId: () => string): (request: IncomingMessage) => string {
  return (request: KnownMessage) => {
    request[requestId] ??= newRequestId()
    return request[requestId]
  }
}

/** Header fields of every answer: the request id, and no content sniffing (Fetch standard, section 3.6). */
export function commonFields(requestId: string): Readonly<Record<string, string>> {
  return { 'x-request-id': requestId, 'x-content-type-options': 'nosniff' }
}

/** Caching for answers that need a token: only the client may cache them, and must revalidate. */
export const privateFields = { 'cache-control': 'private, no-cache' } as const

/** Records why the server refused a request on its own, such as for a body that broke or timed out. */
export function noteRefusal(request: KnownMessage, error: AppError): void {
  request[refusal] = error
}

/** The event of an answered request. */
export function finishedEvent(
  { operation, caller, plantId, failure }: Exchange,
  request: FastifyRequest,
  reply: FastifyReply,
  peers: Peers,
): RequestFinished {
  const { raw, headers, id: requestId, method } = request
  const failed = failure ?? (raw as KnownMessage)[refusal]
  const known = caller ?? failed?.caller
  return {
    kind: 'requestFinished',
    requestId,
    method,
    ...(operation !== undefined && { operation: operation.id }),
    // Most operations have one fixed path, which needs no checking.
    path: operation !== undefined && !operation.path.includes('{') ? operation.path : shownPath(request.url),
    status: reply.statusCode,
    durationMs: reply.elapsedTime,
    ...(isStream(reply.raw) && { isStream: true }),
    bytes: Number(reply.getHeader('content-length') ?? 0),
    clientAddress: peers.addressOf(raw.socket, headers),
    tokenId: known?.id,
    tokenName: known?.name,
    plantId: plantId?.toString(),
    ...(failed !== undefined && { error: failed.code, cause: failed.cause }),
  }
}

/** The event of an answered plain request. */
export function finishedEventOf(exchange: PlainExchange, status: number, bytes: number): RequestFinished {
  const { requestId, method, operation, path, startedAtMs, failure, clientAddress, caller, plantId } = exchange
  const event = {
    kind: 'requestFinished' as const,
    requestId,
    method,
    operation,
    path,
    status,
    bytes,
    clientAddress,
    durationMs: performance.now() - startedAtMs,
    tokenId: caller.id,
    tokenName: caller.name,
    plantId: plantId?.toString(),
  }
  return failure === undefined ? event : { ...event, error: failure.code, cause: failure.cause }
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
