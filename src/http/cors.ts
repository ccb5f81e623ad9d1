// Cross-origin requests of browsers (CORS, in the Fetch standard): which origins may call, and what their pages may
// read.

import type { Request } from './request.ts'

/** Header fields of a reply, by lower-case name. */
type ReplyFields = Record<string, string>

/** `*` allows pages of any origin. Without cookies, a page can do only what the token its user gave it allows. */
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

/** Header fields for answers to input that never became a request, so that its origin is unknown. */
export function anyOriginFields(allowed: AllowedOrigins): Readonly<Record<string, string>> {
  return allowed === '*' ? { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposedFields } : {}
}
