// One connection: turns its bytes into requests, one at a time, and writes the replies.
//
// | state       | begins with                                 | ends with                        | clock            |
// | ----------- | ------------------------------------------- | -------------------------------- | ---------------- |
// | `head`      | the connection, or the first byte in `idle` | a whole head                     | `headersMsMax`   |
// | `body`      | a head that Node.js has parsed              | the end of the request           | `requestMsMax`   |
// | `answering` | the end of the request                      | the last byte of its reply       | `answeringMsMax` |
// | `streaming` | the head of an endless reply                | the end of the stream            | none             |
// | `idle`      | the ends of both the request and its reply  | a first byte, or a plain request | `keepAliveMsMax` |
// | `ending`    | the last reply, or the client's end         | the close of the connection      | `unreadMsMax`    |
//
// When a clock runs out: `head` and `body` are rejected with 408, or end the connection if the reply is already on its
// way; `answering` is reset; `idle` and `ending` are closed. `head` and `body` share one clock. A plain request skips
// both states. The clocks of `answering` and `ending` stop while output is unread; another one runs instead,
// `unreadMsMax` without progress. Nothing is read in the meantime, because input would restart that clock.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../domain/clock.ts'
import { AppError } from '../../domain/errors.ts'
import type { AbortReason } from '../../domain/events.ts'
import type { Limits } from '../../limits.ts'
import { freePage, type LargeAnswers } from '../large-answers.ts'
import {
  type Fields,
  type Reply,
  type Request,
  type RequestConnection,
  type RequestHead,
  shownPath,
} from '../request.ts'
import type { Service } from '../service.ts'
import { findUnsafe, hasBody, hostAsked, toOriginForm } from './framing.ts'
import { Incoming } from './incoming.ts'
import { NodeBody, type OpenParser, type ParserEvents, type ParserSocket, streamOver } from './node-parser.ts'
import { ownAddress, type Peers } from './peers.ts'
import { type FieldsSeen, headOf, readPlainRequest, writePlainReply } from './plain.ts'
import { readSocket, resetSocket } from './socket-internals.ts'

export type State = 'head' | 'body' | 'answering' | 'streaming' | 'idle' | 'ending'

export interface ConnectionOptions {
  readonly limits: Limits
  readonly clock: Clock
  readonly service: Service
  readonly openParser: OpenParser
  readonly peers: Peers
  readonly largeAnswers: LargeAnswers
  readonly newRequestId: () => string
  /** Whether plain requests may be read without Node.js's parser. */
  readonly readsPlainRequests: boolean
  /** Whether each connection closes with its next reply. */
  readonly isStopping: () => boolean
  /** Whether new requests must wait. */
  readonly isHolding: () => boolean
  /** Called when there is more to parse; `takeNext` then takes one request. */
  readonly onMore: (connection: Connection) => void
  /** Called when the number of bytes of an arriving request has changed. */
  readonly onArriving: (connection: Connection) => void
}

export class Connection implements RequestConnection, ParserEvents {
  readonly socket: Socket
  readonly openedAtMs: number
  readonly #options: ConnectionOptions
  /** Kept because a closed socket loses it. */
  readonly #address: string | undefined
  readonly #incoming: Incoming
  #state: State = 'head'
  #sinceMs: number
  #isUsed = false
  #hasEnded = false
  #parserSocket: ParserSocket | undefined
  /** The request in progress, until its reply is sent. */
  #request: Request | undefined
  #reply: Reply | undefined
  /** The request that Node.js parses, until it has arrived. */
  #message: IncomingMessage | undefined
  #response: ServerResponse | undefined
  #body: NodeBody | undefined
  /** Whether nothing can follow the reply. */
  #isLast = false
  #doneListeners: (() => void)[] = []
  /** Why the server closes the connection, if it does. */
  #endReason: AbortReason = 'clientLeft'
  readonly #fieldsSeen: FieldsSeen = { text: '', fields: undefined }
  /** `#close` reports a reply that is not sent. */
  readonly #onWritten = (error?: Error | null): void => (error == null ? this.#noteSent() : undefined)

  constructor(socket: Socket, options: ConnectionOptions) {
    const { limits, clock } = options
    this.socket = socket
    this.#options = options
    this.#address = ownAddress(socket)
    this.#incoming = new Incoming(limits.headerBytesMax)
    this.openedAtMs = clock.monotonicMs()
    this.#sinceMs = this.openedAtMs
    readSocket(socket, (bytes) => this.#receive(bytes))
    socket.on('end', () => this.#receiveEnd())
    socket.on('error', () => {})
    socket.once('close', () => this.#close())
  }

  get state(): State {
    return this.#state
  }

  /** Whether nothing is in progress, so that the connection can be closed, or take a plain request. */
  get isQuiet(): boolean {
    return this.#incoming.heldBytes === 0 && (this.#state === 'idle' || this.isNew)
  }

  /** Whether no byte has arrived. */
  get isNew(): boolean {
    return this.#state === 'head' && !this.#isUsed && this.#incoming.heldBytes === 0
  }

  get hasLeft(): boolean {
    return this.#hasEnded || this.socket.destroyed
  }

  /** Bytes of waiting requests and of unread replies. */
  get waitingBytes(): number {
    const isPartial = this.#state === 'head' || this.#state === 'body'
    return (isPartial ? 0 : this.#incoming.heldBytes) + this.socket.writableLength
  }

  /** Bytes held of an incomplete request. */
  get arrivingBytes(): number {
    if (this.#state === 'head') return this.#incoming.heldBytes
    return this.#state === 'body' ? (this.#body?.heldBytes ?? 0) : 0
  }

  onceDone(listener: () => void): void {
    this.#doneListeners.push(listener)
  }

  /** Whether the clock of the state has run out, with the precision of the calling interval. */
  hasExpired(nowMs: number): boolean {
    const { limits } = this.#options
    const isSending = this.socket.writableLength > 0 && (this.#state === 'answering' || this.#state === 'ending')
    if (isSending) this.#sinceMs = nowMs
    return this.#state !== 'streaming' && nowMs - this.#sinceMs >= limits[clocks[this.#state]]
  }

  expire(): void {
    if (this.#state === 'head' || this.#state === 'body') {
      this.refuse(new AppError('requestTimeout', 'the request did not arrive in time'))
    } else if (this.#state === 'answering') {
      this.cut('answerLate')
    } else {
      this.socket.destroy()
    }
  }

  cut(reason: AbortReason): void {
    this.#endReason = reason
    // A reset also discards the kernel's send buffer, which would be retransmitted for minutes to a client that reads
    // nothing.
    if (reason === 'serverStopped') this.socket.destroy()
    else resetSocket(this.socket)
  }

  /** Answers once to input that is broken, too large or too slow. Nothing is parsed afterwards. */
  refuse(error: AppError): void {
    if (this.#state === 'ending' || this.#state === 'answering') return
    if (this.#state === 'body') {
      this.#refuseBody(error)
      return
    }
    const isHead = this.#incoming.method === 'HEAD'
    const reply = this.#options.service.refuseBytes(error, this.#address)
    this.socket.write(headOf(reply, undefined) + (isHead ? '' : reply.body))
    this.#end()
  }

  /** Fails a request whose body is broken or late. If the request has its reply already, ends the connection. */
  #refuseBody(error: AppError): void {
    this.#isLast = true
    this.#dropInput()
    if (this.#reply?.stream !== undefined) {
      this.socket.destroy()
    } else if (this.#request === undefined) {
      this.#end()
    } else {
      this.#enter('answering')
      // A broken body costs no units.
      this.#request.isCounted = true
      this.#body?.fail(error)
    }
  }

  /** Takes the next request, or the next pieces of one. */
  takeNext(): void {
    try {
      while (this.#takePart());
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      this.refuse(error)
    }
    this.#options.onArriving(this)
    if (this.#state === 'ending') return
    if (this.#isLast) {
      this.#dropInput()
      return
    }
    const isArriving = this.#state === 'head' || this.#state === 'body' || this.#state === 'idle'
    if (this.#incoming.heldBytes > 0 && (!isArriving || this.#isToWait)) this.socket.pause()
    else if (!this.#hasEnded) this.socket.resume()
    else if (isArriving) this.#endInput()
  }

  onRequest(message: IncomingMessage, response: ServerResponse): void {
    const { limits } = this.#options
    this.#message = message
    this.#response = response
    const onHeld = (): void => this.#options.onArriving(this)
    this.#body = hasBody(message) ? new NodeBody(message, response, limits.bodyBytesMax, onHeld) : undefined
    if (this.#body !== undefined) this.#incoming.beginBody(message.headers)
    this.#enter('body', this.#sinceMs)
    response.once('finish', () => this.#noteSent())
    const request = this.#newRequest({
      method: message.method ?? '',
      target: toOriginForm(message.url ?? '/'),
      fields: message.headers as Fields,
      host: hostAsked(message),
      isHttp10: message.httpVersion === '1.0',
      body: this.#body,
    })
    this.#serve(request, findUnsafe(message, limits.headerFieldsMax))
  }

  onWrite(): void {
    const { socket } = this
    if (socket.writableLength === 0 || socket.timeout !== undefined) return
    // Node.js restarts this clock at every read and write, so it measures how long output stays unread.
    socket.setTimeout(this.#options.limits.unreadMsMax)
    socket.on('timeout', () => {
      if (socket.writableLength > 0) this.cut('notRead')
    })
  }

  /** @param packet valid until this returns. */
  #receive(packet: Buffer): void {
    if (this.#state === 'ending') return
    if (this.isQuiet && !this.#isToWait && this.#servePlain(packet)) return
    this.#incoming.add(packet)
    this.takeNext()
  }

  #receiveEnd(): void {
    this.#hasEnded = true
    if (this.#state === 'streaming') this.socket.destroy()
    else if (this.#incoming.heldBytes > 0) this.takeNext()
    else if (this.#state !== 'answering' && this.#state !== 'ending') this.#endInput()
  }

  /** Called when the client has ended its side, and at most an incomplete request is in progress. */
  #endInput(): void {
    if (this.isQuiet) this.#end()
    else this.refuse(new AppError('malformedRequest', 'the connection ended before the request did'))
  }

  get #isToWait(): boolean {
    return this.#state !== 'body' && this.#options.isHolding()
  }

  /** Passes the next head, or piece of a body, to the parser. Returns whether another may follow at once. */
  #takePart(): boolean {
    if (this.#isToWait) return false
    if (this.#state === 'idle') {
      this.#incoming.skipLineEnds()
      if (this.#incoming.heldBytes > 0) this.#enter('head')
    }
    if (this.#state === 'head') {
      const head = this.#incoming.takeHead()
      if (head === undefined) return false
      if (this.#servePlain(head)) return false
      this.#parserSocket ??= this.#options.openParser(this.socket, this)
      this.#parserSocket.parse(head)
    } else if (this.#state === 'body') {
      const piece = this.#incoming.takePiece()
      if (piece === undefined) return false
      this.#parserSocket?.parse(piece)
    } else {
      return false
    }
    if (this.#message?.complete === true) this.#noteArrived()
    return true
  }

  #noteArrived(): void {
    this.#message = undefined
    if (this.#state !== 'body') return
    if (this.#reply?.stream !== undefined) this.#enter('streaming')
    else if (this.#request !== undefined) this.#enter('answering')
    else this.#finish()
  }

  #servePlain(bytes: Buffer): boolean {
    const { readsPlainRequests, limits } = this.#options
    const plain = readsPlainRequests ? readPlainRequest(bytes, limits, this.#fieldsSeen) : undefined
    if (plain === undefined) return false
    this.#enter('answering')
    this.#serve(this.#newRequest(plain))
    return true
  }

  #newRequest({ method, target, fields, host, isHttp10, body }: RequestHead): Request {
    const { peers, newRequestId } = this.#options
    return {
      id: newRequestId(),
      method,
      target,
      path: shownPath(target),
      fields,
      host,
      isHttp10,
      body,
      connection: this,
      clientAddress: peers.addressOf(this.socket, fields),
      scheme: peers.schemeOf(this.socket, fields),
      startedAtMs: performance.now(),
      operation: undefined,
      caller: undefined,
      plantId: undefined,
      failure: undefined,
      isCounted: false,
    }
  }

  #serve(request: Request, refusal?: AppError): void {
    const { service } = this.#options
    this.#isUsed = true
    this.#request = request
    const reply = refusal === undefined ? service.serve(request) : service.refuse(request, refusal)
    if (reply instanceof Promise) void reply.then((later) => this.#send(later))
    else this.#send(reply)
  }

  #send(reply: Reply): void {
    if (this.socket.destroyed) {
      this.#options.largeAnswers.forget(this)
      return
    }
    this.#reply = reply
    if (this.#response === undefined) this.#sendPlain(reply)
    else this.#sendByNode(reply, this.#response)
  }

  #sendPlain(reply: Reply): void {
    const isLast = reply.isLast === true || this.#options.isStopping()
    this.#isLast = isLast
    writePlainReply(this.socket, reply, isLast ? undefined : this.#options.limits.keepAliveMsMax, this.#onWritten)
    this.onWrite()
  }

  #sendByNode(reply: Reply, response: ServerResponse): void {
    const isCut = reply.status >= 400 && this.#message !== undefined && !this.#canSkip(this.#message)
    const isLast = reply.isLast === true || isCut || this.#isLast || this.#options.isStopping()
    const { status, fields, body, stream } = reply
    response.writeHead(status, isLast ? { ...fields, connection: 'close' } : fields)
    const isWhole = stream === undefined || response.req.method === 'HEAD'
    if (isWhole) response.end(body)
    else response.flushHeaders()
    this.#body?.drop()
    if (isWhole) return
    if (this.#message === undefined || this.#body === undefined) this.#enter('streaming')
    stream(streamOver(response, this))
  }

  /** Whether the rest of a rejected body can be skipped: not if it is too long, of unknown length, or awaits a 100. */
  #canSkip({ complete, headers }: IncomingMessage): boolean {
    if (complete || this.#body === undefined) return true
    const { 'content-length': length, expect } = headers
    return length !== undefined && Number(length) <= this.#options.limits.bodyBytesMax && expect === undefined
  }

  #noteSent(): void {
    const { service, largeAnswers } = this.#options
    const [request, reply] = [this.#request, this.#reply]
    // The connection was closed in the meantime.
    if (request === undefined || reply === undefined) return
    // A client that ends its side within a request has probably left.
    if (this.#hasEnded && this.#message !== undefined) service.noteAborted(request, reply, 'clientLeft')
    else service.noteSent(request, reply)
    largeAnswers.forget(this)
    if (reply.isPage === true) freePage(reply.body)
    this.#request = undefined
    this.#reply = undefined
    this.#noteDone()
    if (this.#isLast || this.#parserSocket?.writableEnded === true) this.#end()
    else if (this.#message === undefined) this.#finish()
  }

  /** The request has arrived, and its reply is sent. */
  #finish(): void {
    this.#response = undefined
    this.#body = undefined
    this.#enter('idle')
    if (this.#incoming.heldBytes > 0) this.#options.onMore(this)
    else if (this.#hasEnded) this.#end()
  }

  #noteDone(): void {
    if (this.#doneListeners.length === 0) return
    const listeners = this.#doneListeners
    this.#doneListeners = []
    for (const listener of listeners) listener()
  }

  #enter(state: State, sinceMs = this.#options.clock.monotonicMs()): void {
    this.#state = state
    this.#sinceMs = sinceMs
  }

  /** Discards the input, and reads no more of it. */
  #dropInput(): void {
    this.#incoming.drop()
    this.#options.onArriving(this)
    this.socket.pause()
  }

  /**
   * Ends the connection, but reads on until the client ends it, too, or `lingerMsMax` has passed. If the socket closed
   * with unread bytes, the system would reset the connection, and the client would lose the unread rest of the last
   * reply (RFC 9112, section 9.6).
   */
  #end(): void {
    if (this.#state === 'ending') return
    const { socket } = this
    this.#enter('ending')
    this.#dropInput()
    this.onWrite()
    // The system closes a connection whose client has ended it.
    if (this.#hasEnded) {
      socket.end()
      return
    }
    socket.end(() => {
      socket.resume()
      const timer = setTimeout(() => socket.destroy(), this.#options.limits.lingerMsMax)
      socket.once('close', () => clearTimeout(timer))
    })
  }

  #close(): void {
    const { service, largeAnswers } = this.#options
    largeAnswers.forget(this)
    this.#body?.fail(new AppError('malformedRequest', 'the connection ended before the request did'))
    if (this.#request !== undefined) service.noteAborted(this.#request, this.#reply, this.#endReason)
    this.#request = undefined
    this.#enter('ending')
    this.#incoming.drop()
    this.#options.onArriving(this)
    this.#parserSocket?.destroy()
    this.#noteDone()
  }
}

/** The limit of the clock of each state. A stream has none: its comments show whether the client still reads. */
const clocks: Readonly<Record<Exclude<State, 'streaming'>, keyof Limits>> = {
  head: 'headersMsMax',
  body: 'requestMsMax',
  answering: 'answeringMsMax',
  idle: 'keepAliveMsMax',
  ending: 'unreadMsMax',
}
