// Configures Node.js's HTTP server with limits, and answers bytes that are not a request.

import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import { AppError } from '../domain/errors.ts'
import type { Limits } from '../limits.ts'
import { anyOriginHeaders } from './cors.ts'
import type { Problem, Problems } from './problems.ts'
import type { KeyPair, ServiceOptions } from './service-options.ts'
import type { Connection, Refuse, ServePlain } from './wire/connection.ts'
import { connectionOf, findConnection } from './wire/connections.ts'
import { commonFields, noteRefusal } from './wire/exchange.ts'
import { createServer } from './wire/node-http.ts'

/** Excess connections that are answered at the same time. Above: closed without an answer. */
const refusedConnectionsMax = 32

export interface HttpServerOptions extends ServiceOptions {
  readonly problems: Problems
  readonly servePlain: ServePlain
}

/**
 * Creates a server that passes every request to a listener, including requests that expect a 100: the listener sends
 * the 100 when it wants the body.
 */
export function createHttpServer(parts: HttpServerOptions, listener: RequestListener): Server {
  const { limits, connections, servePlain, keyPair } = parts
  const options = {
    maxHeaderSize: limits.headerBytesMax,
    // connections.ts implements these timeouts. Clients are told the last one.
    headersTimeout: 0,
    requestTimeout: 0,
    keepAliveTimeout: limits.keepAliveMsMax,
    // Node.js would answer a missing Host with an empty body; framing.ts rejects it instead.
    requireHostHeader: false,
  }
  const server = keyPair === undefined ? createServer(options) : createTlsServer(options, keyPair, limits)
  // A client that half-closes its side still gets its answer (RFC 9112, section 9.6). Node.js has always had this
  // option, but its types lack it.
  Object.assign(server, { httpAllowHalfOpen: true })
  // Node.js would silently drop fields beyond this number; framing.ts counts them.
  server.maxHeadersCount = 0

  // Node.js restarts this timeout at every read and write, so it measures how long an answer stays unread.
  server.timeout = limits.unreadMsMax
  server.on('timeout', (socket) => connections.endUnread(connectionOf(socket)))
  const refuse: Refuse = (connection, error) => refuseOn(connection, error, parts)
  server.on(keyPair === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    const connection = connections.add(socket, servePlain, refuse)
    const tooMany = connections.count - limits.connectionsMax
    if (tooMany <= 0) return
    if (tooMany > refusedConnectionsMax) socket.destroy()
    else
      connection.refuse(
        new AppError('overloaded', `there are more than the ${limits.connectionsMax} connections allowed; try again`),
      )
  })
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    if (connectionOf(request.socket).admit(response)) listener(request, response)
  }
  server.on('request', serve)
  server.on('checkContinue', serve)
  // The listener checks Expect like any other field.
  server.on('checkExpectation', serve)
  server.on('clientError', (cause: ClientError, socket: Socket) => {
    const connection = findConnection(socket)
    // The handshake failed: nothing can be sent.
    if (connection === undefined) {
      socket.destroy()
      return
    }
    if (cause.code === 'ECONNRESET' || !socket.writable) socket.destroy()
    else connection.refuse(explain(cause, limits))
  })
  return server
}

/** TLS 1.2 is the oldest version that is still secure (RFC 8996). */
export const tlsOptions = { minVersion: 'TLSv1.2' } as const

function createTlsServer(options: ServerOptions, { cert, key }: KeyPair, limits: Limits): Server {
  const server = createHttpsServer({
    ...options,
    ...tlsOptions,
    cert,
    key,
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: limits.headersMsMax,
    // The same as for plain HTTP.
    allowHalfOpen: true,
  })
  // Connections in the TLS handshake are not counted by the server's own limit.
  server.maxConnections = limits.connectionsMax + refusedConnectionsMax
  return server
}

/** Sends a connection-level error once, after the answers to earlier requests, and closes it. */
function refuseOn(connection: Connection, error: AppError, parts: HttpServerOptions): void {
  const { problems, allowedOrigins, requestIdOf } = parts
  const { socket, newest: response } = connection
  // An answer to HEAD has no body.
  const isHead = connection.arrivingMethod === 'HEAD'
  const answerOnSocket = (): void => problems.answerOnSocket(socket, problemOf(error, connection, parts), isHead)
  if (response === undefined || (response.writableFinished && response.req.complete)) {
    answerOnSocket()
  } else if (response.req.complete) {
    // Earlier requests get their answers first.
    response.once('finish', answerOnSocket)
  } else if (response.headersSent) {
    // The error is in the rest of a body that was refused early; its answer has been sent.
    socket.destroySoon()
  } else {
    noteRefusal(response.req, error)
    dropBody(response.req)
    const problem = problems.of(error)
    const common = { ...anyOriginHeaders(allowedOrigins), ...commonFields(requestIdOf(response.req)) }
    problems.answerAndClose(response, { ...problem, headers: { ...problem.headers, ...common } }, socket.readableEnded)
  }
}

/** Creates a problem with its own request id, and reports it as one event. */
function problemOf(error: AppError, { address: clientAddress }: Connection, parts: HttpServerOptions): Problem {
  const { problems, allowedOrigins, newRequestId, observe } = parts
  const requestId = newRequestId()
  const problem = problems.of(error)
  observe({ kind: 'requestRefused', requestId, status: problem.status, clientAddress, error: error.code })
  const headers = { ...problem.headers, ...anyOriginHeaders(allowedOrigins), ...commonFields(requestId) }
  return { ...problem, headers }
}

/** Releases the received part of a body, which listeners for the rest would retain. */
function dropBody(request: IncomingMessage): void {
  for (const event of ['data', 'end', 'error']) request.removeAllListeners(event)
  request.on('error', () => {})
}

interface ClientError extends Error {
  readonly code?: string
  /** The parser's description of the error. */
  readonly reason?: string
}

/** Translates an error of Node.js's parser into an AppError. */
function explain({ code, reason }: ClientError, { headerBytesMax }: Limits): AppError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new AppError('headerFieldsTooLarge', `the trailer is longer than the ${headerBytesMax} bytes allowed`)
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new AppError('bodyTooLarge', 'the chunk extensions are longer than allowed')
    default:
      return new AppError('malformedRequest', `the request is not valid HTTP/1.1${reason ? `: ${reason}` : ''}`)
  }
}
