// Turns a failure into a reply: the Error body, and the header fields of its status.

import type { Scope } from '../domain/caller.ts'
import { AppError, errorNumbers, statusOf } from '../domain/errors.ts'
import type { Reply } from './request.ts'

const retryAfterSeconds = 1
const realm = 'Bearer realm="plantstore"'

/** The reply to a failure. @param scopes those that the operation requires, for the challenge of a 401 or 403. */
export function problemOf(error: AppError, scopes: readonly Scope[] = []): Reply & { readonly body: string } {
  const body = JSON.stringify({ error: errorNumbers[error.code], message: error.message })
  return {
    status: statusOf(error.code),
    fields: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      ...fieldsFor(error, scopes),
      ...error.fields,
    },
    body,
  }
}

function fieldsFor({ code }: AppError, scopes: readonly Scope[]): Record<string, string> {
  switch (code) {
    // RFC 6750, section 3.
    case 'missingToken':
      return { 'www-authenticate': realm }
    case 'invalidToken':
      return { 'www-authenticate': `${realm}, error="invalid_token"` }
    case 'insufficientScope':
      return { 'www-authenticate': `${realm}, error="insufficient_scope", scope="${scopes.join(' ')}"` }
    case 'unsupportedMediaType':
      return { accept: 'application/json' }
    case 'unsupportedContentEncoding':
      return { 'accept-encoding': 'identity' }
    default:
      return statusOf(code) === 503 ? { 'retry-after': String(retryAfterSeconds) } : {}
  }
}

/**
 * Whether nothing can follow on the connection: the start of the next request is unknown, or would depend on how much
 * of the body has arrived. `headerFieldsTooLarge` includes too many fields.
 */
export function breaksConnection({ code }: AppError): boolean {
  return code === 'malformedRequest' || code === 'bodyTooLarge' || code === 'headerFieldsTooLarge'
}

/** Converts anything thrown while serving a request to an AppError. Unexpected errors become `internalError`. */
export function toAppError(error: unknown, requestId: string): AppError {
  if (error instanceof AppError) return error
  return new AppError('internalError', `the server failed; its log has the cause under request id ${requestId}`, {
    cause: error,
  })
}
