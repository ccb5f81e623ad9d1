// One client's connection. The parser of Node.js gets what arrives one request at a time, each head as a whole, and only
// while few requests wait for their answers: left alone, it takes every request of a packet at once, thousands of them,
// and each costs kilobytes until it is answered.

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { AppError } from '../../domain/errors.ts'
import type { AbortReason } from '../../domain/events.ts'
import type { PlainExchange } from './exchange.ts'
import { Intake } from './intake.ts'
import { endInTime } from './linger.ts'
import { isFull, isLast, takeOver } from './parser-socket.ts'
import { ownAddress } from './peers.ts'
import type { Stage } from './stages.ts'

/** Serves bytes the short way if they are a plain request, and gives whether they are; they are read at once. */
export type ServePlain = (connection: Connection, bytes: Buffer) => boolean

/** Answers what a connection refuses, and ends it. */
export type Refuse = (connection: Connection, error: AppError) => void

export interface ConnectionOptions {
  /** Requests that are worked on at once; those behind them wait unread. */
  readonly pipelinedRequestsMax: number
  /** Request line and header fields of a request. */
  readonly headerBytesMax: number
  readonly lingerMsMax: number
  readonly unreadMsMax: number
  readonly openedAtMs: number
  /** Whether no new request is to be taken for the moment. */
  readonly isHolding: () => boolean
  /** Told when there is more to take, which is done by `takeNext`, a request at a time. */
  readonly onMore: (connection: Connection) => void
  /** Told when the bytes of a request that is still arriving have become more, or fewer. */
  readonly onArriving: (connection: Connection) => void
  readonly servePlain: ServePlain
  readonly refuse: Refuse
}

export class Connection {
  readonly socket: Socket
  readonly openedAtMs: number
  /** The address of the other end; a closed socket no longer knows it. */
  readonly address: string | undefined
  /** Why it ends, when it is the server that ends it. */
  endReason: AbortReason = 'clientLeft'
  readonly #options: ConnectionOptions
  readonly #intake: Intake
  /** Tells the parser that nothing more comes. */
  readonly #end: () => void
  /** The client sends nothing more. */
  #hasEnded = false
  /** The server sends nothing more. */
  #isEnding = false
  #isRefused = false
  /** In the order of their requests; those at the front may be finished. */
  readonly #responses: ServerResponse[] = []
  #newest: ServerResponse | undefined
  /** Requests that were taken, in all. */
  #requests = 0
  /** The newest request is the last that is served. */
  #isLast = false
  /** It waits for its turn to give the parser more. */
  #isQueued = false
  /** It waits for an answer before it gives the parser more. */
  #isWaiting = false
  #plain: PlainExchange | undefined
  /** Large answers that are looked for. */
  #finds = 0

  /** @param socket one that the server of Node.js has begun to listen to. */
  constructor(socket: Socket, options: ConnectionOptions) {
    this.socket = socket
    this.openedAtMs = options.openedAtMs
    this.address = ownAddress(socket)
    this.#options = options
    const { parse, end } = takeOver(socket, {
      onBytes: (bytes) => this.#receive(bytes),
      onEnd: () => {
        this.#hasEnded = true
        if (!this.#intake.isEmpty) this.goOn()
        else if (this.#plain === undefined && !this.#isRefused) end()
      },
      onResume: () => {
        // What the socket brings can be looked at at once.
        if (!this.#isQueued && (this.#intake.isEmpty || this.#intake.isPartial)) return
        socket.pause()
        this.goOn()
      },
      onLast: () => {
        this.#isEnding = true
        this.#drop()
        socket.setTimeout(options.unreadMsMax)
        endInTime(socket, options.lingerMsMax)
      },
    })
    this.#end = end
    this.#intake = new Intake({
      parse,
      newest: () => this.#newest?.req,
      headerBytesMax: options.headerBytesMax,
    })
    socket.once('close', () => this.#drop())
  }

  /** The newest response, which tells what the client has been told already. */
  get newest(): ServerResponse | undefined {
    return this.#newest
  }

  /** The method of the request that is arriving, once it is known. */
  get arrivingMethod(): string | undefined {
    return this.#intake.method
  }

  get stage(): Stage {
    if (this.#isEnding) return 'ending'
    if (this.#newest !== undefined && !this.#newest.req.complete) return 'body'
    if (this.#plain !== undefined || this.unfinished.length > 0) return 'answering'
    return this.#intake.isEmpty && this.#requests > 0 ? 'idle' : 'head'
  }

  /** See `StageClocks`. */
  get progress(): number {
    const { stage } = this
    return this.#requests + Number(stage === 'head') - (stage === 'answering' ? this.unfinished.length : 0)
  }

  /** Whether a request could come now without being in the way of anything. */
  get isIdle(): boolean {
    return this.#intake.isEmpty && (this.stage === 'idle' || this.#requests === 0)
  }

  /** The request that goes the short way and was not answered yet as a whole. */
  get plain(): PlainExchange | undefined {
    return this.#plain
  }

  /** Responses that have not been handed over to the network as a whole, in their order. */
  get unfinished(): readonly ServerResponse[] {
    while (this.#responses[0]?.writableFinished) this.#responses.shift()
    return this.#responses
  }

  /** Bytes of requests that wait for their turn, and of answers that wait to be read. */
  get waitingBytes(): number {
    return this.#intake.waitingBytes + this.socket.writableLength
  }

  /** Bytes that are kept of a request whose end has not arrived. */
  get arrivingBytes(): number {
    return this.#intake.arrivingBytes
  }

  /** Notes a request that is to be served; false when it is to be thrown away. */
  admit(response: ServerResponse): boolean {
    if (this.#isRefused || this.#isAtItsEnd) return false
    this.#newest = response
    this.#requests += 1
    this.#responses.push(response)
    return true
  }

  /** Notes a request that goes the short way. Until it is answered nothing else is taken. */
  begin(exchange: PlainExchange): void {
    this.#requests += 1
    this.#plain = exchange
  }

  /**
   * Answers the request that goes the short way.
   *
   * @param onAnswered told when the whole answer has been handed over to the network.
   */
  answer(text: string, isLast: boolean, onAnswered: () => void): void {
    const { socket } = this
    if (socket.destroyed) return
    socket.write(text, (error) => {
      // `Connections` reports that it was not answered.
      if (error != null) return
      this.#plain = undefined
      onAnswered()
      if (isLast) socket.destroySoon()
      else if (!this.#intake.isEmpty) this.goOn()
      else if (this.#hasEnded) this.#end()
    })
    if (isLast) this.#isLast = true
    // As Node.js does while an answer waits to be read.
    if (socket.writableLength > 0) socket.setTimeout(this.#options.unreadMsMax)
  }

  /** Answers, once, what is broken, too large or too slow, after which nothing is taken any more. */
  refuse(error: AppError): void {
    if (this.#isRefused) return
    this.#isRefused = true
    this.#options.refuse(this, error)
    this.#drop()
  }

  /** Takes no further request while a large answer is looked for: those behind it only cost memory. */
  async holdWhile<T>(find: () => Promise<T>): Promise<T> {
    this.#finds += 1
    try {
      return await find()
    } finally {
      this.#finds -= 1
      this.goOn()
    }
  }

  /** Asks for a turn, if something waits for one. */
  goOn(): void {
    if (this.#intake.isEmpty || this.#isQueued) return
    this.#isQueued = true
    this.#options.onMore(this)
  }

  /** Gives the parser the next request, or the next piece of one. Gives whether there is more to take at once. */
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

  /** @param packet valid until it returns. */
  #receive(packet: Buffer): void {
    if (this.#isOver) return
    // A connection's first request tells Node.js of it, too, and so begins to count the time that it is idle.
    if (this.stage === 'idle' && this.#mayTake() && this.#options.servePlain(this, packet)) return
    this.#intake.add(packet)
    if (!this.#isQueued && this.takeNext()) this.#options.onMore(this)
  }

  /** Whether nothing that still comes will be looked at. */
  get #isOver(): boolean {
    if (this.#isEnding || this.#isRefused) return true
    return this.#isAtItsEnd && (this.#newest === undefined || this.#newest.req.complete)
  }

  /** Whether no further request is served: after an answer that says that it is the last (RFC 9112, section 9.6). */
  get #isAtItsEnd(): boolean {
    return this.#isLast || isLast(this.#newest)
  }

  #mayTake(): boolean {
    if (this.#plain !== undefined || isFull(this.socket, this.unfinished)) return false
    // The rest of a request that is being served.
    if (this.#intake.isInBody) return true
    if (this.#finds > 0 || this.#options.isHolding()) return false
    return this.unfinished.length < this.#options.pipelinedRequestsMax
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

  /** Gives whether the parser got any of it. */
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
    // What still comes is read, and thrown away.
    if (!this.socket.destroyed) this.socket.resume()
  }
}
