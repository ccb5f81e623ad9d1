// Cross-origin requests from browsers (CORS, in the Fetch standard): which origins may send them, and what their pages
// may read.

import type { ReplyFields, Request } from './request.ts'

/** `*` allows pages of any origin: there are no cookies, so a page can use only a token that its user entered. */
export type AllowedOrigins = '*' | readonly string[]

const exposedFields =
  'Accept, Accept-Encoding, Allow, ETag, Idempotency-Replayed, Link, Location, RateLimit, RateLimit-Policy, ' +
  'Retry-After, WWW-Authenticate, X-Request-Id'
const requestFields = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID'
const preflightSecondsMax = '7200'

/** Adds the header fields that let a page of the request's origin read the answer. */
export function allowOrigin(
  allowed: AllowedOrigins,
  { method, fields: { origin } }: Request,
  fields: ReplyFields,
): void {
  if (method === 'GET' || method === 'HEAD') fields['vary'] = 'Origin'
  if (origin === undefined) return
  if (allowed !== '*' && !allowed.includes(origin)) return
  fields['access-control-allow-origin'] = allowed === '*' ? '*' : origin
  fields['access-control-expose-headers'] = exposedFields
}

/**
 * Answers a preflight request, which browsers send without a token before the actual one. Returns whether the request
 * is a preflight from an allowed origin.
 */
export function answerPreflight(request: Request, fields: ReplyFields, methods: string): boolean {
  if (request.fields['access-control-request-method'] === undefined) return false
  if (fields['access-control-allow-origin'] === undefined) return false
  fields['access-control-allow-methods'] = methods
  fields['access-control-allow-headers'] = requestFields
  fields['access-control-max-age'] = preflightSecondsMax
  return true
}

/** Header fields of replies to bytes that are not a request, whose origin is therefore unknown. */
export function anyOriginFields(allowed: AllowedOrigins): Readonly<Record<string, string>> {
  return allowed === '*' ? { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposedFields } : {}
}
