// Cross-origin requests of browsers (the Fetch standard, CORS): which origins' pages may call, and what they may see.

import type { FastifyReply, FastifyRequest } from 'fastify'

/** `*`: pages of any origin. There are no cookies, so that a page can do no more than its user gave it a token for. */
export type AllowedOrigins = '*' | readonly string[]

const exposedFields =
  'Allow, ETag, Idempotency-Replayed, Link, Location, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, ' +
  'X-Request-Id'
const requestFields = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match'
const preflightSecondsMax = '7200'

/** Adds to an answer what lets a page of the request's origin see it. */
export function allowOrigin(allowed: AllowedOrigins, request: FastifyRequest, reply: FastifyReply): void {
  const { origin } = request.headers
  if (request.method === 'GET' || request.method === 'HEAD') reply.header('vary', 'Origin')
  if (origin === undefined) return
  if (allowed !== '*' && !allowed.includes(origin)) return
  reply.header('access-control-allow-origin', allowed === '*' ? '*' : origin)
  reply.header('access-control-expose-headers', exposedFields)
}

/**
 * Answers a preflight: the browser's question, without a token, whether a page may send the request it is about to
 * send. Gives whether the request is one, from an origin that may call.
 */
export function answerPreflight(request: FastifyRequest, reply: FastifyReply, methods: string): boolean {
  if (request.headers['access-control-request-method'] === undefined) return false
  if (reply.getHeader('access-control-allow-origin') === undefined) return false
  reply.header('access-control-allow-methods', methods)
  reply.header('access-control-allow-headers', requestFields)
  reply.header('access-control-max-age', preflightSecondsMax)
  return true
}

/** What goes with an answer to something that never became a request, whose origin is not known. */
export function anyOriginHeaders(allowed: AllowedOrigins): Readonly<Record<string, string>> {
  return allowed === '*' ? { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposedFields } : {}
}
