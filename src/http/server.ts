// The HTTP server of Node.js with its limits, and answers for bytes that are not a request.

import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import { AppError } from '../domain/errors.ts'
import type { Observe } from '../domain/events.ts'
import { type AllowedOrigins, anyOriginHeaders } from './cors.ts'
import type { Problem, Problems } from './problems.ts'
import type { Connection, Refuse, ServePlain } from './wire/connection.ts'
import { type Connections, connectionOf, findConnection } from './wire/connections.ts'
import { commonFields, noteRefusal } from './wire/exchange.ts'
import { createServer } from './wire/node-http.ts'

export interface ServerLimits {
  readonly headerBytesMax: number
  readonly headersMsMax: number
  readonly keepAliveMsMax: number
  readonly connectionsMax: number
  readonly refusedConnectionsMax: number
  readonly unreadMsMax: number
}

/** A certificate chain and its private key, in PEM. */
export interface KeyPair {
  readonly cert: Buffer
  readonly key: Buffer
}

export interface HttpServerOptions {
  /** With it HTTPS is served, and no plain HTTP. */
  readonly keyPair?: KeyPair
  readonly limits: ServerLimits
  readonly connections: Connections
  readonly problems: Problems
  readonly servePlain: ServePlain
  readonly observe: Observe
  readonly allowedOrigins: AllowedOrigins
  readonly newRequestId: () => string
  /** The id that a request was given when it came. */
  readonly requestIdOf: (request: IncomingMessage) => string
}

/**
 * Makes a server that gives every request to a listener. Requests that wait for a 100 before they send their body come
 * to it like any other: the listener sends the 100 when it wants the body.
 */
export function createHttpServer(parts: HttpServerOptions, listener: RequestListener): Server {
  const { limits, connections, servePlain, keyPair } = parts
  const options = {
    maxHeaderSize: limits.headerBytesMax,
    // connections.ts has these clocks. The last one is also what clients are told.
    headersTimeout: 0,
    requestTimeout: 0,
    keepAliveTimeout: limits.keepAliveMsMax,
    // Node.js would answer a missing Host with an empty body; framing.ts refuses it.
    requireHostHeader: false,
  }
  const server = keyPair === undefined ? createServer(options) : createTlsServer(options, keyPair, limits)
  // A client that has said all it has to say still gets its answer (RFC 9112, section 9.6). Node.js has had this switch
  // since its first versions, but not in its types.
  Object.assign(server, { httpAllowHalfOpen: true })
  // Fields past this number would be dropped silently; framing.ts counts them.
  server.maxHeadersCount = 0

  // In Node.js a socket's time runs only while nothing is written and nothing comes: here, while an answer is not read.
  server.timeout = limits.unreadMsMax
  server.on('timeout', (socket) => connections.endUnread(connectionOf(socket)))
  const refuse: Refuse = (connection, error) => refuseOn(connection, error, parts)
  server.on(keyPair === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    const connection = connections.add(socket, servePlain, refuse)
    const tooMany = connections.count - limits.connectionsMax
    if (tooMany <= 0) return
    if (tooMany > limits.refusedConnectionsMax) socket.destroy()
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
  // Judged in its turn, as any other field is.
  server.on('checkExpectation', serve)
  server.on('clientError', (cause: ClientError, socket: Socket) => {
    const connection = findConnection(socket)
    // A handshake that failed: nothing can be sent.
    if (connection === undefined) {
      socket.destroy()
      return
    }
    if (cause.code === 'ECONNRESET' || !socket.writable) socket.destroy()
    else connection.refuse(explain(cause, limits))
  })
  return server
}

/** TLS 1.2 is the oldest version that is not broken (RFC 8996). */
export const tlsOptions = { minVersion: 'TLSv1.2' } as const

function createTlsServer(options: ServerOptions, { cert, key }: KeyPair, limits: ServerLimits): Server {
  const server = createHttpsServer({
    ...options,
    ...tlsOptions,
    cert,
    key,
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: limits.headersMsMax,
    // As that of plain HTTP.
    allowHalfOpen: true,
  })
  // Those that are still shaking hands are not among the connections that are counted.
  server.maxConnections = limits.connectionsMax + limits.refusedConnectionsMax
  return server
}

/** Gives a connection one refusal of what is broken on it, after the answers before it, and ends it. */
function refuseOn(connection: Connection, error: AppError, parts: HttpServerOptions): void {
  const { problems, allowedOrigins, requestIdOf } = parts
  const { socket, newest: response } = connection
  // The answer to a HEAD has no body.
  const isHead = connection.arrivingMethod === 'HEAD'
  const answerOnSocket = (): void => problems.answerOnSocket(socket, problemOf(error, connection, parts), isHead)
  if (response === undefined || (response.writableFinished && response.req.complete)) {
    answerOnSocket()
  } else if (response.req.complete) {
    // The requests before the broken one get their own answers first.
    response.once('finish', answerOnSocket)
  } else if (response.headersSent) {
    // What broke is the rest of a body that was refused before it came: its answer is given.
    socket.destroySoon()
  } else {
    noteRefusal(response.req, error)
    dropBody(response.req)
    const problem = problems.of(error)
    const common = { ...anyOriginHeaders(allowedOrigins), ...commonFields(requestIdOf(response.req)) }
    problems.answerAndClose(response, { ...problem, headers: { ...problem.headers, ...common } }, socket.readableEnded)
  }
}

/** A problem under a request id of its own, said once as an event. */
function problemOf(error: AppError, { address: clientAddress }: Connection, parts: HttpServerOptions): Problem {
  const { problems, allowedOrigins, newRequestId, observe } = parts
  const requestId = newRequestId()
  const problem = problems.of(error)
  observe({ kind: 'requestRefused', requestId, status: problem.status, clientAddress, error: error.code })
  const headers = { ...problem.headers, ...anyOriginHeaders(allowedOrigins), ...commonFields(requestId) }
  return { ...problem, headers }
}

/** Lets go of what has come of a body, which is kept by those who listen for the rest. */
function dropBody(request: IncomingMessage): void {
  for (const event of ['data', 'end', 'error']) request.removeAllListeners(event)
  request.on('error', () => {})
}

interface ClientError extends Error {
  readonly code?: string
  /** What is wrong, in the parser's words. */
  readonly reason?: string
}

/** What the parser of Node.js found wrong, in the words of the interface. */
function explain({ code, reason }: ClientError, { headerBytesMax }: ServerLimits): AppError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new AppError('headerFieldsTooLarge', `the trailer is longer than the ${headerBytesMax} bytes allowed`)
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new AppError('bodyTooLarge', 'the chunk extensions are longer than allowed')
    default:
      return new AppError('malformedRequest', `the request is not valid HTTP/1.1${reason ? `: ${reason}` : ''}`)
  }
}
