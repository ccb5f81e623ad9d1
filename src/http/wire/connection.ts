// One client's connection. It passes one request at a time to the parser of Node.js, each head as a whole, and only
// while few requests wait for their responses. Node.js alone would parse every request of a packet at once: thousands,
// each of which takes kilobytes until its response is sent.

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { AppError } from '../../domain/errors.ts'
import type { AbortReason } from '../../domain/events.ts'
import type { Limits } from '../../limits.ts'
import type { Exchange } from './exchange.ts'
import { Intake } from './intake.ts'
import { endInTime } from './linger.ts'
import { isFull, isLast, isStream, type PlainResponse, takeOver, writeResponse } from './parser-socket.ts'
import { ownAddress } from './peers.ts'
import type { FieldsSeen } from './plain-request.ts'
import type { Stage } from './stages.ts'

/** Serves a plain request by the shortcut, and returns true; returns false for any other bytes. Reads them at once. */
export type ServePlain = (connection: Connection, bytes: Buffer) => boolean

/** Responds to rejected input and ends the connection. */
export type Refuse = (connection: Connection, error: AppError) => void

export interface ConnectionOptions {
  readonly limits: Limits
  readonly openedAtMs: number
  /** Whether new requests must wait. */
  readonly isHolding: () => boolean
  /** Called when there is more to parse; `takeNext` then takes one request. */
  readonly onMore: (connection: Connection) => void
  /** Called when the number of bytes of an arriving request has changed. */
  readonly onArriving: (connection: Connection) => void
  readonly servePlain: ServePlain
  readonly refuse: Refuse
}

export class Connection {
  readonly socket: Socket
  readonly openedAtMs: number
  /** The address of the client, kept because a closed socket loses it. */
  readonly address: string | undefined
  /** The fields of its plain requests. */
  readonly fieldsSeen: FieldsSeen = { text: '', fields: undefined }
  /** Why the server ends the connection, if it does. */
  endReason: AbortReason = 'clientLeft'
  readonly #options: ConnectionOptions
  readonly #intake: Intake
  /** Tells the parser that the input has ended. */
  readonly #end: () => void
  /** The client has ended its side, and so left its stream of changes. */
  #hasEnded = false
  /** The server has ended its side. */
  #isEnding = false
  #isRefused = false
  /** In the order of their requests; the first ones may be finished. */
  readonly #responses: ServerResponse[] = []
  #newest: ServerResponse | undefined
  /** Total number of requests. */
  #requests = 0
  /** No request is served after the newest one. */
  #isLast = false
  /** It waits for its turn. */
  #isQueued = false
  /** It waits for a response before it parses more. */
  #isWaiting = false
  #plain: Exchange | undefined
  /** Number of large responses in preparation. */
  #finds = 0

  /** @param socket a socket that Node's server has already attached its listeners to. */
  constructor(socket: Socket, options: ConnectionOptions) {
    this.socket = socket
    this.openedAtMs = options.openedAtMs
    this.address = ownAddress(socket)
    this.#options = options
    const { parse, end } = takeOver(socket, {
      onBytes: (bytes) => this.#receive(bytes),
      onEnd: () => {
        this.#hasEnded = true
        for (const response of this.unfinished) if (isStream(response)) response.destroy()
        if (!this.#intake.isEmpty) this.goOn()
        else if (this.#plain === undefined && !this.#isRefused) end()
      },
      onResume: () => {
        // Nothing waits, so the socket's next bytes are the next to parse.
        if (!this.#isQueued && (this.#intake.isEmpty || this.#intake.isPartial)) return
        socket.pause()
        this.goOn()
      },
      onLast: () => {
        this.#isEnding = true
        this.#drop()
        socket.setTimeout(options.limits.unreadMsMax)
        endInTime(socket, options.limits.lingerMsMax)
      },
    })
    this.#end = end
    this.#intake = new Intake({
      parse,
      newest: () => this.#newest?.req,
      headerBytesMax: options.limits.headerBytesMax,
    })
    socket.once('close', () => this.#drop())
  }

  /** The newest response, which shows what the client has received so far. */
  get newest(): ServerResponse | undefined {
    return this.#newest
  }

  /** The method of the arriving request, once it is known. */
  get arrivingMethod(): string | undefined {
    return this.#intake.method
  }

  get stage(): Stage {
    if (this.#isEnding) return 'ending'
    if (this.#newest !== undefined && !this.#newest.req.complete) return 'body'
    const [first] = this.unfinished
    if (isStream(first)) return 'streaming'
    if (this.#plain !== undefined || first !== undefined) return 'answering'
    return this.#intake.isEmpty && this.#requests > 0 ? 'idle' : 'head'
  }

  /** See `StageClocks`. */
  get progress(): number {
    const { stage } = this
    return this.#requests + Number(stage === 'head') - (stage === 'answering' ? this.unfinished.length : 0)
  }

  /** Whether nothing is in progress, so that the connection can be closed. */
  get isIdle(): boolean {
    return this.#intake.isEmpty && (this.stage === 'idle' || this.#requests === 0)
  }

  /** The request on the shortcut, until its response is sent completely. */
  get plain(): Exchange | undefined {
    return this.#plain
  }

  /** Responses that are not yet written completely, in order. */
  get unfinished(): readonly ServerResponse[] {
    while (this.#responses[0]?.writableFinished) this.#responses.shift()
    return this.#responses
  }

  /** Bytes of waiting requests and of unread responses. */
  get waitingBytes(): number {
    return this.#intake.waitingBytes + this.socket.writableLength
  }

  /** Bytes held of an incomplete request. */
  get arrivingBytes(): number {
    return this.#intake.arrivingBytes
  }

  /** Registers a request; returns false if it must be dropped. */
  admit(response: ServerResponse): boolean {
    if (this.#isRefused || this.#isAtItsEnd) return false
    this.#newest = response
    this.#requests += 1
    this.#responses.push(response)
    return true
  }

  /** Registers a request on the shortcut. Nothing else is parsed until its response is sent. */
  begin(exchange: Exchange): void {
    this.#requests += 1
    this.#plain = exchange
  }

  /** Responds to the request on the shortcut. Calls `onAnswered` when the response is written completely. */
  answer(response: PlainResponse, isLast: boolean, onAnswered: () => void): void {
    const { socket } = this
    if (socket.destroyed) return
    writeResponse(socket, response, (error) => {
      // `Connections` reports the missing response.
      if (error != null) return
      this.#plain = undefined
      onAnswered()
      if (isLast) socket.destroySoon()
      else if (!this.#intake.isEmpty) this.goOn()
      else if (this.#hasEnded) this.#end()
    })
    if (isLast) this.#isLast = true
    // As Node.js does while a response is unread.
    if (socket.writableLength > 0) socket.setTimeout(this.#options.limits.unreadMsMax)
  }

  /** Responds once to input that is broken, too large or too slow. Nothing is parsed afterwards. */
  refuse(error: AppError): void {
    if (this.#isRefused) return
    this.#isRefused = true
    this.#options.refuse(this, error)
    this.#drop()
  }

  /** Parses no further request while a large response is in preparation, because waiting requests only take memory. */
  async holdWhile<T>(find: () => Promise<T>): Promise<T> {
    this.#finds += 1
    try {
      return await find()
    } finally {
      this.#finds -= 1
      this.goOn()
    }
  }

  /** Asks for a turn if anything waits. */
  goOn(): void {
    if (this.#intake.isEmpty || this.#isQueued) return
    this.#isQueued = true
    this.#options.onMore(this)
  }

  /** Parses the next request, or the next piece of one. Returns whether more can be parsed at once. */
  takeNext(): boolean {
    this.#isQueued = false
    if (this.#isOver) {
      this.#drop()
      return false
    }
    if (!this.#intake.isEmpty && !this.#mayTake()) {
      this.socket.pause()
      this.#waitForAnswer()
      return false
    }
    const isTaken = this.#take()
    this.#options.onArriving(this)
    if (isTaken && !this.#intake.isEmpty) {
      this.#isQueued = true
      this.socket.pause()
      return true
    }
    if (!this.#hasEnded) this.socket.resume()
    else if (this.#intake.isEmpty) this.#end()
    else this.refuse(new AppError('malformedRequest', 'the connection ended before the request did'))
    return false
  }

  /** @param packet valid until this returns. */
  #receive(packet: Buffer): void {
    if (this.#isOver) return
    // Node.js must see the first request of a connection to start its idle timeout.
    if (this.stage === 'idle' && this.#mayTake() && this.#options.servePlain(this, packet)) return
    this.#intake.add(packet)
    if (!this.#isQueued && this.takeNext()) this.#options.onMore(this)
  }

  /** Whether further input is ignored. */
  get #isOver(): boolean {
    if (this.#isEnding || this.#isRefused) return true
    return this.#isAtItsEnd && (this.#newest === undefined || this.#newest.req.complete)
  }

  /** Whether the response with `Connection: close` is sent or due (RFC 9112, section 9.6). */
  get #isAtItsEnd(): boolean {
    return this.#isLast || isLast(this.#newest)
  }

  #mayTake(): boolean {
    if (this.#plain !== undefined || isStream(this.unfinished[0]) || isFull(this.socket, this.unfinished)) return false
    // The rest of a request in progress.
    if (this.#intake.isInBody) return true
    if (this.#finds > 0 || this.#options.isHolding()) return false
    return this.unfinished.length < this.#options.limits.pipelinedRequestsMax
  }

  #waitForAnswer(): void {
    const [first] = this.unfinished
    if (first === undefined || this.#isWaiting) return
    this.#isWaiting = true
    first.once('close', () => {
      this.#isWaiting = false
      this.goOn()
    })
  }

  /** Returns whether the parser received any of it. */
  #take(): boolean {
    try {
      return this.#intake.take()
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      this.refuse(error)
      return false
    }
  }

  #drop(): void {
    this.#intake.drop()
    this.#options.onArriving(this)
    // Further input is read and discarded.
    if (!this.socket.destroyed) this.socket.resume()
  }
}
