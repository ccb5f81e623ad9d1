// Node.js's HTTP server, as the parser of requests and the writer of their replies. It listens nowhere: a connection
// hands it one request at a time through a stream, as `http.Server` allows ("Event: 'connection'" in its documentation).

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { AppError } from '../../domain/errors.ts'
import type { Limits } from '../../limits.ts'
import { createServer } from '../node-http.ts'
import { bodyTooLarge } from '../problems.ts'
import type { ArrivingBody, Reply, ReplyStream, RequestConnection } from '../request.ts'

/** What a connection is told. */
export interface ParserEvents {
  /** A head was parsed. */
  onRequest(message: IncomingMessage, response: ServerResponse): void
  /** The bytes are not a valid request. */
  onBroken(error: AppError): void
  /** A part of a reply was written to the socket. */
  onWrite(): void
}

export class NodeParser {
  readonly #server: Server

  constructor(limits: Limits) {
    this.#server = createServer({
      maxHeaderSize: limits.headerBytesMax,
      // Connections have clocks of their own. Clients are told this one.
      keepAliveTimeout: limits.keepAliveMsMax,
      // Node.js would answer a missing Host with an empty body; framing.ts rejects it instead.
      requireHostHeader: false,
    })
    // Node.js would silently drop fields beyond this number; framing.ts counts them.
    this.#server.maxHeadersCount = 0
    const serve = (message: IncomingMessage, response: ServerResponse): void =>
      (message.socket as unknown as Door).events.onRequest(message, response)
    // A request that expects a 100 is served like any other: reading its body sends it.
    for (const event of ['request', 'checkContinue', 'checkExpectation']) this.#server.on(event, serve)
    this.#server.on('clientError', (cause: ParserError, door: Duplex) => {
      // Anything else is an error of the socket, which closes it.
      if (cause.code?.startsWith('HPE_') === true) (door as Door).events.onBroken(explain(cause, limits))
    })
  }

  /** Opens a connection of the parser. */
  open(socket: Socket, events: ParserEvents): Door {
    const door = new Door(socket, events)
    this.#server.emit('connection', door)
    return door
  }
}

/** Stands for the socket of a connection: passes on what Node.js writes, and what it is given to parse. */
export class Door extends Duplex {
  readonly events: ParserEvents
  readonly #socket: Socket

  constructor(socket: Socket, events: ParserEvents) {
    super({ decodeStrings: false })
    this.#socket = socket
    this.events = events
  }

  // Instrumentation of `node:http` reads these.
  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress
  }

  get remotePort(): number | undefined {
    return this.#socket.remotePort
  }

  get localAddress(): string | undefined {
    return this.#socket.localAddress
  }

  get localPort(): number | undefined {
    return this.#socket.localPort
  }

  /** Parses bytes at once. */
  parse(bytes: Buffer): void {
    this.emit('data', bytes)
  }

  override _read(): void {}

  override _write(chunk: string | Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk as string, encoding, done)
    this.events.onWrite()
  }

  override _writev(
    chunks: readonly { readonly chunk: string | Buffer; readonly encoding: BufferEncoding }[],
    done: (error?: Error | null) => void,
  ): void {
    this.#socket.cork()
    for (const [index, { chunk, encoding }] of chunks.entries()) {
      this.#socket.write(chunk as string, encoding, index === chunks.length - 1 ? done : undefined)
    }
    this.#socket.uncork()
    this.events.onWrite()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }
}

/** Sends a reply, or the head of a stream. */
export function writeReply(response: ServerResponse, { status, fields, body, stream }: Reply, isLast: boolean): void {
  response.writeHead(status, isLast ? { ...fields, connection: 'close' } : fields)
  if (stream === undefined || response.req.method === 'HEAD') response.end(body)
  else response.flushHeaders()
}

export class NodeStream implements ReplyStream {
  readonly #response: ServerResponse
  readonly #connection: RequestConnection

  constructor(response: ServerResponse, connection: RequestConnection) {
    this.#response = response
    this.#connection = connection
  }

  get isOver(): boolean {
    return this.#connection.hasLeft || this.#response.writableEnded
  }

  get unreadBytes(): number {
    return this.#response.writableLength
  }

  write(bytes: string | Uint8Array): void {
    this.#response.write(bytes)
  }

  end(): void {
    this.#response.end()
  }

  cut(): void {
    this.#connection.socket.destroy()
  }

  onceDone(listener: () => void): void {
    this.#connection.onceDone(listener)
  }
}

/** A body that Node.js parses. */
export class NodeBody implements ArrivingBody {
  readonly #message: IncomingMessage
  readonly #response: ServerResponse
  #error: AppError | undefined
  #reject: ((error: AppError) => void) | undefined

  constructor(message: IncomingMessage, response: ServerResponse) {
    this.#message = message
    this.#response = response
    // Node.js reports that the connection is lost; `fail` says why.
    message.on('error', () => {})
  }

  read(bytesMax: number): Promise<Buffer> {
    this.#continue()
    return new Promise((resolve, reject) => {
      if (this.#error !== undefined) return reject(this.#error)
      this.#reject = reject
      const pieces: Buffer[] = []
      let bytes = 0
      this.#message.on('data', (piece: Buffer) => {
        bytes += piece.length
        if (bytes > bytesMax) this.fail(bodyTooLarge(bytesMax))
        else pieces.push(piece)
      })
      this.#message.once('end', () => resolve(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)))
    })
  }

  async skip(): Promise<void> {
    this.#continue()
    await Promise.resolve()
    if (this.#error !== undefined) throw this.#error
  }

  /** Fails the read of the body, now or later, and drops what arrives. */
  fail(error: AppError): void {
    this.#error ??= error
    for (const event of ['data', 'end']) this.#message.removeAllListeners(event)
    this.#message.resume()
    this.#reject?.(this.#error)
  }

  #continue(): void {
    const { headers, httpVersion } = this.#message
    if (headers.expect !== undefined && httpVersion !== '1.0') this.#response.writeContinue()
  }
}

interface ParserError extends Error {
  readonly code?: string
  /** The parser's description of the error. */
  readonly reason?: string
}

/** Translates an error of Node.js's parser into an AppError. */
function explain({ code, reason }: ParserError, { headerBytesMax }: Limits): AppError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new AppError('headerFieldsTooLarge', `the trailer is longer than the ${headerBytesMax} bytes allowed`)
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new AppError('bodyTooLarge', 'the chunk extensions are longer than allowed')
    default:
      return new AppError('malformedRequest', `the request is not valid HTTP/1.1${reason ? `: ${reason}` : ''}`)
  }
}
