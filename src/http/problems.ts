// Turns a failure into a response: the Error body, the header fields of its status, and whether the connection closes.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Scope } from '../domain/caller.ts'
import { AppError, codeOf, errorNumbers, statusOf } from '../domain/errors.ts'
import type { Limits } from '../limits.ts'
import { challenge } from './authenticate.ts'
import { hasBody } from './wire/framing.ts'
import { STATUS_CODES } from './wire/node-http.ts'

const retryAfterSeconds = 1

/** An answer to a failure. Header names are lower case. */
export interface Problem {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Creates problems from errors. */
export class Problems {
  readonly limits: Limits

  constructor(limits: Limits) {
    this.limits = limits
  }

  /** @param scopes the scopes that the operation requires, for the challenge of a 401 or 403. */
  of(error: AppError, scopes: readonly Scope[] = []): Problem {
    const body = JSON.stringify({ error: errorNumbers[error.code], message: error.message })
    return {
      status: statusOf(error.code),
      headers: {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        ...this.#fieldsFor(error, scopes),
        ...error.fields,
      },
      body,
    }
  }

  #fieldsFor({ code }: AppError, scopes: readonly Scope[]): Record<string, string> {
    switch (code) {
      case 'missingToken':
      case 'invalidToken':
      case 'insufficientScope':
        return { 'www-authenticate': challenge(code, scopes) }
      case 'unsupportedMediaType':
        return { accept: 'application/json' }
      case 'unsupportedContentEncoding':
        return { 'accept-encoding': 'identity' }
      default:
        return statusOf(code) === 503 ? { 'retry-after': String(retryAfterSeconds) } : {}
    }
  }

  /**
   * Whether the connection must close with this response: the start of the next request is unknown, or the rest of the
   * body cannot be skipped. It cannot be skipped if it is too long, has no known length, or waits for a 100. A body that
   * is too long always closes the connection, so that the outcome does not depend on how much has arrived. Too many
   * fields close it like fields that are too long.
   */
  mustClose(request: IncomingMessage, { code }: AppError): boolean {
    if (code === 'malformedRequest' || code === 'bodyTooLarge' || code === 'headerFieldsTooLarge') return true
    if (request.complete || !hasBody(request)) return false
    const { 'content-length': length, expect } = request.headers
    return length === undefined || Number(length) > this.limits.bodyBytesMax || expect !== undefined
  }

  /**
   * Sends a response and closes its connection. Discards what the client still sends for a while (linger.ts).
   *
   * @param hasEnded whether the client half-closed its side within the request. Most such clients have left; the answer
   * counts as sent if the connection outlasts the linger time.
   */
  answerAndClose(response: ServerResponse, problem: Problem, hasEnded = false): void {
    response.writeHead(problem.status, { ...problem.headers, connection: 'close' })
    if (!hasEnded) {
      response.end(problem.body)
      return
    }
    // The answer to HEAD is headers only.
    response.flushHeaders()
    response.write(problem.body)
    const timer = setTimeout(() => response.end(), this.limits.lingerMsMax)
    response.once('close', () => clearTimeout(timer))
  }

  /** Answers on a bare socket, for input that never became a request. */
  answerOnSocket(socket: Socket, problem: Problem, isHead: boolean): void {
    const head = Object.entries({ date: new Date().toUTCString(), ...problem.headers, connection: 'close' })
    socket.write(
      [
        `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
        ...head.map(([name, value]) => `${name}: ${value}`),
        '',
        isHead ? '' : problem.body,
      ].join('\r\n'),
    )
    socket.destroySoon()
  }
}

/** Converts anything thrown while serving a request to an AppError. Unexpected errors become `internalError`. */
export function toAppError(error: unknown, requestId: string): AppError {
  if (error instanceof AppError) return error
  if (codeOf(error) === 'ECONNRESET') {
    return new AppError('malformedRequest', 'the body ended before its Content-Length')
  }
  return new AppError('internalError', `the server failed; its log says why under request id ${requestId}`, {
    cause: error,
  })
}

export function bodyTooLarge(bodyBytesMax: number): AppError {
  return new AppError('bodyTooLarge', `the body is longer than the ${bodyBytesMax} bytes allowed`)
}
