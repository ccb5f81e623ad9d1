// The HTTP server of Node.js with its limits, and answers for whatever comes over a connection without being a request.

import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { AppError, type ErrorCode } from '../domain/errors.ts'
import type { Observe } from '../domain/events.ts'
import type { Problems } from './problems.ts'

export interface ServerLimits {
  readonly headerBytesMax: number
  readonly headersMsMax: number
  readonly requestMsMax: number
  readonly keepAliveMsMax: number
  readonly connectionCheckMs: number
}

export interface ServerParts {
  readonly limits: ServerLimits
  readonly problems: Problems
  readonly observe: Observe
  readonly newRequestId: () => string
}

/**
 * Makes a server that gives every request to a listener. Requests that wait for a 100 before they send their body come
 * to it like any other: the listener sends the 100 when it wants the body.
 */
export function createHttpServer(parts: ServerParts, listener: RequestListener): Server {
  const { limits } = parts
  /** The newest response of each connection, which tells what its client has been told already. */
  const newest = new WeakMap<Socket, ServerResponse>()
  const refused = new WeakSet<Socket>()

  const server = createServer({
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headersMsMax,
    requestTimeout: limits.requestMsMax,
    keepAliveTimeout: limits.keepAliveMsMax,
    connectionsCheckingInterval: limits.connectionCheckMs,
    // Node.js would answer a missing Host with an empty body; framing.ts refuses it.
    requireHostHeader: false,
  })
  // Fields past this number would be dropped silently; framing.ts counts them.
  server.maxHeadersCount = 0

  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    newest.set(request.socket, response)
    listener(request, response)
  }
  server.on('request', serve)
  server.on('checkContinue', serve)
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    newest.set(request.socket, response)
    const expectation = JSON.stringify(request.headers.expect)
    const error = new AppError('expectationFailed', `Expect: must be 100-continue, got ${expectation}`)
    parts.problems.answerAndClose(response, problemOf(error))
  })
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    refuse(socket, new AppError('unknownMethod', 'CONNECT is not served here: this is no proxy'))
  })
  server.on('clientError', (cause: ClientError, socket: Socket) => {
    // Whatever comes after the first refusal is thrown away: a connection gets no second answer to it.
    if (refused.has(socket)) return
    if (cause.code === 'ECONNRESET' || !socket.writable) socket.destroy()
    else refuse(socket, explain(cause, limits))
  })
  return server

  function refuse(socket: Socket, error: AppError): void {
    refused.add(socket)
    const response = newest.get(socket)
    if (response === undefined || response.writableFinished) {
      parts.problems.answerOnSocket(socket, problemOf(error))
    } else if (response.req.complete) {
      // The requests before the broken one get their own answers first.
      response.once('finish', () => parts.problems.answerOnSocket(socket, problemOf(error)))
    } else if (response.headersSent) {
      socket.destroySoon()
    } else {
      parts.problems.answerAndClose(response, problemOf(error))
    }
  }

  function problemOf(error: AppError) {
    const requestId = parts.newRequestId()
    const problem = parts.problems.of(error)
    parts.observe({ kind: 'requestRefused', requestId, status: problem.status, error: error.code })
    return { ...problem, headers: { ...problem.headers, 'x-request-id': requestId } }
  }
}

interface ClientError extends Error {
  readonly code?: string
  /** What the parser was given when it failed, which may begin with earlier requests. */
  readonly rawPacket?: Buffer
  /** How far it came. */
  readonly bytesParsed?: number
}

/** What the parser of Node.js found wrong, in the words of the interface. */
function explain(cause: ClientError, limits: ServerLimits): AppError {
  const known: Partial<Record<string, readonly [ErrorCode, string]>> = {
    HPE_HEADER_OVERFLOW: [
      'headerFieldsTooLarge',
      `the request line and header fields are longer than the ${limits.headerBytesMax} bytes allowed`,
    ],
    HPE_CHUNK_EXTENSIONS_OVERFLOW: ['bodyTooLarge', 'the chunk extensions are longer than allowed'],
    ERR_HTTP_REQUEST_TIMEOUT: ['requestTimeout', 'the request did not arrive in time'],
  }
  const [error, message] = known[cause.code ?? ''] ?? explainInvalid(cause)
  return new AppError(error, message)
}

/** A method that is a valid token (RFC 9110, section 5.6.2) but unknown is 501; everything else the parser refuses is 400. */
function explainInvalid({ code, rawPacket, bytesParsed }: ClientError): readonly [ErrorCode, string] {
  const lineStart = rawPacket === undefined ? 0 : rawPacket.lastIndexOf('\n', bytesParsed) + 1
  const line = rawPacket?.toString('latin1', lineStart) ?? ''
  const method = /^[\w!#$%&'*+.^`|~-]{1,32}(?= \S+ HTTP\/1\.[01]\r?\n)/.exec(line)?.[0]
  if (code === 'HPE_INVALID_METHOD' && method !== undefined) {
    return ['unknownMethod', `the method ${method} is not known`]
  }
  return ['malformedRequest', `the request is not valid HTTP/1.1${code === undefined ? '' : ` (${code})`}`]
}
