// What is known of a request so far, kept with it from its first hook to its last.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Operation, OperationId } from '../contract/document.ts'
import type { Caller } from '../domain/caller.ts'
import type { AppError } from '../domain/errors.ts'
import type { RequestFinished } from '../domain/events.ts'

export interface Exchange {
  operation?: Operation
  caller?: Caller
  failure?: AppError
}

/** A request that goes the short way (shortcut.ts). */
export interface PlainExchange {
  readonly requestId: string
  readonly operation: OperationId
  readonly method: string
  /** Without secrets, as paths of operations are. */
  readonly path: string
  readonly startedAtMs: number
  failure?: AppError
}

const key = 'exchange'
const requestId = Symbol('requestId')
const refusal = Symbol('refusal')
const answered = Symbol('answered')
const pathCharactersShown = 200

/** Prepares an application for exchanges. */
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
  [answered]?: boolean
}

/** Gives what names each request, from its first byte to its last event. */
export function requestIdsFrom(newRequestId: () => string): (request: IncomingMessage) => string {
  return (request: KnownMessage) => {
    request[requestId] ??= newRequestId()
    return request[requestId]
  }
}

/** What every answer has: the name of its request, and that its type is what it says (the Fetch standard, 3.6). */
export function commonFields(requestId: string): Readonly<Record<string, string>> {
  return { 'x-request-id': requestId, 'x-content-type-options': 'nosniff' }
}

/** What an answer has that needs a token: nobody but its client may keep it, and asks again before it is used. */
export const privateFields = { 'cache-control': 'private, no-cache' } as const

/** Notes why the server refused a request on its own, as one whose body broke or did not come in time. */
export function noteRefusal(request: KnownMessage, error: AppError): void {
  request[refusal] = error
}

/** Notes that the whole answer to a request was written, although its end waits for what the client still sends. */
export function noteAnswered(request: KnownMessage): void {
  request[answered] = true
}

/** Whether the end of a connection takes nothing of an answer away. */
export function isAnswered({ req, writableFinished }: ServerResponse): boolean {
  return writableFinished || (req as KnownMessage)[answered] === true
}

/** The event of a request that was answered. */
export function finishedEvent(
  request: FastifyRequest,
  { operation, failure = (request.raw as KnownMessage)[refusal] }: Exchange,
  status: number,
  durationMs: number,
): RequestFinished {
  return {
    kind: 'requestFinished',
    requestId: request.id,
    method: request.method,
    ...(operation !== undefined && { operation: operation.id }),
    // Most operations have one path, which needs no looking after.
    path: operation !== undefined && !operation.path.includes('{') ? operation.path : shownPath(request.url),
    status,
    durationMs,
    ...(failure !== undefined && { error: failure.code, cause: failure.cause }),
  }
}

/** The event of a plain request that was answered. */
export function finishedEventOf(exchange: PlainExchange, status: number): RequestFinished {
  const { requestId, method, operation, path, startedAtMs, failure } = exchange
  const durationMs = performance.now() - startedAtMs
  const event = { kind: 'requestFinished', requestId, method, operation, path, status, durationMs } as const
  return failure === undefined ? event : { ...event, error: failure.code, cause: failure.cause }
}

/**
 * The path of a target as it may be shown: without the query, where secrets may be, without tokens, and not endless.
 */
export function shownPath(target: string): string {
  const path = target.split('?', 1)[0] ?? ''
  return path.replaceAll(/plt_\w+/g, 'plt_...').slice(0, pathCharactersShown)
}
