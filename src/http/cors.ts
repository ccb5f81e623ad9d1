// Cross-origin requests of browsers (CORS, in the Fetch standard): which origins may call, and what their pages may
// read.

import type { FastifyReply, FastifyRequest } from 'fastify'

/** `*` allows pages of any origin. Without cookies, a page can do only what the token its user gave it allows. */
export type AllowedOrigins = '*' | readonly string[]

const exposedFields =
  'Accept, Accept-Encoding, Allow, ETag, Idempotency-Replayed, Link, Location, RateLimit, RateLimit-Policy, ' +
  'Retry-After, WWW-Authenticate, X-Request-Id'
const requestFields = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID'
const preflightSecondsMax = '7200'

/** Adds the header fields that let a page of the request's origin read the answer. */
export function allowOrigin(allowed: AllowedOrigins, request: FastifyRequest, reply: FastifyReply): void {
  const { origin } = request.headers
  if (request.method === 'GET' || request.method === 'HEAD') reply.header('vary', 'Origin')
  if (origin === undefined) return
  if (allowed !== '*' && !allowed.includes(origin)) return
  reply.header('access-control-allow-origin', allowed === '*' ? '*' : origin)
  reply.header('access-control-expose-headers', exposedFields)
}

/**
 * Answers a preflight request, which browsers send without a token before the actual one. Returns whether the request
 * is a preflight from an allowed origin.
 */
export function answerPreflight(request: FastifyRequest, reply: FastifyReply, methods: string): boolean {
  if (request.headers['access-control-request-method'] === undefined) return false
  if (reply.getHeader('access-control-allow-origin') === undefined) return false
  reply.header('access-control-allow-methods', methods)
  reply.header('access-control-allow-headers', requestFields)
  reply.header('access-control-max-age', preflightSecondsMax)
  return true
}

/** Header fields for answers to input that never became a request, so that its origin is unknown. */
export function anyOriginHeaders(allowed: AllowedOrigins): Readonly<Record<string, string>> {
  return allowed === '*' ? { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposedFields } : {}
}
