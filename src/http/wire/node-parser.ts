// Node.js's HTTP server, as the parser of requests and the writer of their replies. It does not listen: a connection
// hands it one request at a time through a stream, which `http.Server` allows (its documentation, "Event:
// 'connection'").

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { AppError } from '../../domain/errors.ts'
import type { Limits } from '../../limits.ts'
import { createServer } from '../node-http.ts'
import type { ArrivingBody, ReplyStream, RequestConnection } from '../request.ts'

export interface ParserEvents {
  onRequest(message: IncomingMessage, response: ServerResponse): void
  refuse(error: AppError): void
  /** A part of a reply was written to the socket. */
  onWrite(): void
}

export type OpenParser = ReturnType<typeof createParser>

/** Returns a function that opens a connection of the parser. */
export function createParser(limits: Limits) {
  const server = createServer({
    maxHeaderSize: limits.headerBytesMax,
    // For the Keep-Alive field only: connections have clocks of their own.
    keepAliveTimeout: limits.keepAliveMsMax,
    // Node.js would answer a missing Host with an empty body; framing.ts rejects it instead.
    requireHostHeader: false,
  })
  // Node.js would silently drop fields beyond this number; framing.ts counts them.
  server.maxHeadersCount = 0
  const serve = (message: IncomingMessage, response: ServerResponse): void =>
    (message.socket as unknown as ParserSocket).events.onRequest(message, response)
  // A request that expects a 100 is served like any other: reading its body sends it.
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, serve)
  server.on('clientError', (cause: ParserError, socket: Duplex) => {
    // Any other error is one of the socket, which closes itself.
    if (cause.code?.startsWith('HPE_') === true) (socket as ParserSocket).events.refuse(explain(cause, limits))
  })
  return (socket: Socket, events: ParserEvents): ParserSocket => {
    const parserSocket = new ParserSocket(socket, events)
    server.emit('connection', parserSocket)
    return parserSocket
  }
}

/** Stands in for the socket of a connection: forwards the output of Node.js, and the bytes to parse. */
export class ParserSocket extends Duplex {
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

export function streamOver(response: ServerResponse, connection: RequestConnection): ReplyStream {
  return {
    get isOver() {
      return connection.hasLeft || response.writableEnded
    },
    get unreadBytes() {
      return response.writableLength
    },
    write: (bytes) => response.write(bytes),
    end: () => response.end(),
    cut: () => connection.socket.destroy(),
    onceDone: (listener) => connection.onceDone(listener),
  }
}

/** A body that Node.js parses. It is held as one piece, because separate chunks take hundreds of bytes each. */
export class NodeBody implements ArrivingBody {
  readonly #message: IncomingMessage
  readonly #response: ServerResponse
  readonly #bytesMax: number
  readonly #onHeld: () => void
  #held = Buffer.alloc(0)
  #length = 0
  #isWanted = true
  #error: AppError | undefined
  #settle: (() => void) | undefined

  /** @param onHeld called when `heldBytes` has changed. */
  constructor(message: IncomingMessage, response: ServerResponse, bytesMax: number, onHeld: () => void) {
    this.#message = message
    this.#response = response
    this.#bytesMax = bytesMax
    this.#onHeld = onHeld
    message.on('data', (piece: Buffer) => this.#add(piece))
    message.on('end', () => this.#settle?.())
    // Node.js reports here that the connection is lost; `fail` gets the reason.
    message.on('error', () => {})
  }

  get heldBytes(): number {
    return this.#held.length
  }

  read(): Promise<Buffer> {
    if (Number(this.#message.headers['content-length'] ?? 0) > this.#bytesMax) this.#refuse()
    else this.#continue()
    return new Promise((resolve, reject) => {
      this.#settle = () => {
        if (this.#error === undefined) resolve(this.#held.subarray(0, this.#length))
        else reject(this.#error)
      }
      if (this.#error !== undefined || this.#message.readableEnded) this.#settle()
    })
  }

  async skip(): Promise<void> {
    this.#continue()
    await Promise.resolve()
    if (this.#error !== undefined) throw this.#error
    this.drop()
  }

  /** Fails the read of the body, now or later. */
  fail(error: AppError): void {
    this.#error ??= error
    this.drop()
    this.#settle?.()
  }

  #refuse(): void {
    this.fail(new AppError('bodyTooLarge', `the body is longer than the ${this.#bytesMax} bytes allowed`))
  }

  drop(): void {
    this.#isWanted = false
    this.#held = Buffer.alloc(0)
    this.#length = 0
    this.#onHeld()
  }

  #add(piece: Buffer): void {
    if (!this.#isWanted) return
    const length = this.#length + piece.length
    if (length > this.#bytesMax) {
      this.#refuse()
      return
    }
    if (length > this.#held.length) {
      const held = Buffer.allocUnsafe(Math.min(Math.max(length, 2 * this.#held.length), this.#bytesMax))
      this.#held.copy(held)
      this.#held = held
    }
    piece.copy(this.#held, this.#length)
    this.#length = length
    this.#onHeld()
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
