// One client's connection. What comes over it is given to the parser of Node.js one request at a time, and only while
// few of them wait for their answers: left alone, the parser takes every request of a packet at once, thousands of them,
// and each costs kilobytes until it is answered.

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { AbortReason } from '../domain/events.ts'
import type { PlainExchange } from './exchange.ts'
import { hasBody } from './framing.ts'
import { blankLine, HeadEnds } from './head-ends.ts'
import { endInTime } from './linger.ts'
import { ownAddress } from './peers.ts'
import { readSocket } from './read-buffer.ts'

/** Serves bytes the short way if they are a plain request, and gives whether they are; they are read at once. */
export type ServePlain = (connection: Connection, bytes: Buffer) => boolean

export interface ConnectionParts {
  /** Requests that are worked on at once; those behind them wait unread. */
  readonly pipelinedRequestsMax: number
  readonly lingerMsMax: number
  readonly unreadMsMax: number
  readonly openedAtMs: number
  /** Whether no new request is to be taken for the moment. */
  readonly isHolding: () => boolean
  /** Told when there is more to take, which is done by `takeNext`, a request at a time. */
  readonly onMore: (connection: Connection) => void
  readonly servePlain: ServePlain
}

/** The mark of Node.js that it takes nothing more before what it has written was read. */
interface HttpSocket extends Socket {
  readonly _paused?: boolean
}

/** The mark of Node.js that the connection ends with this answer. */
interface HttpResponse extends ServerResponse {
  readonly _last?: boolean
}

export class Connection {
  readonly socket: Socket
  readonly openedAtMs: number
  /** The other end, which a socket that is closed does not know any more. */
  readonly address: string | undefined
  /** Whether something broken was refused, after which nothing is answered any more. */
  isRefused = false
  /** Why it ends, when it is the server that ends it. */
  endReason: AbortReason = 'clientLeft'
  readonly #parts: ConnectionParts
  readonly #parse: (bytes: Buffer) => void
  /** Tells the parser that nothing more comes. */
  readonly #end: () => void
  #hasEnded = false
  /** What came and was not given to the parser yet. */
  #held: Buffer | undefined
  /** In the order of their requests; those at the front may be finished. */
  readonly #responses: ServerResponse[] = []
  #newest: ServerResponse | undefined
  /** Bytes of the newest request's body that are still to come, when its length was said. */
  #bodyLeft = 0
  /** Bytes behind the end of the head in what is given to the parser now. */
  #behindHead = 0
  readonly #heads = new HeadEnds()
  #isBetweenRequests = true
  /** The newest request is the last that is served. */
  #isLast = false
  #isWaiting = false
  #plain: PlainExchange | undefined
  /** Large answers that are looked for. */
  #finds = 0

  /** @param socket one that the server of Node.js has begun to listen to. */
  constructor(socket: Socket, parts: ConnectionParts) {
    this.socket = socket
    this.openedAtMs = parts.openedAtMs
    this.address = ownAddress(socket)
    this.#parts = parts
    const [parse] = socket.listeners('data') as [(bytes: Buffer) => void]
    const end = socket.listeners('end').at(-1) as () => void
    this.#parse = parse
    this.#end = end
    readSocket(socket.off('data', parse), (bytes) => this.#receive(bytes))
    socket.off('end', end).on('end', () => {
      this.#hasEnded = true
      if (this.#held === undefined && this.#plain === undefined) end()
    })
    // Node.js goes on reading by itself, too: whenever a body was read, or a full socket was.
    socket.on('resume', () => {
      if (this.#held === undefined) return
      socket.pause()
      parts.onMore(this)
    })
    socket.once('close', () => this.#drop())
    // What Node.js calls after the last answer.
    socket.destroySoon = () => {
      this.#drop()
      endInTime(socket, parts.lingerMsMax)
    }
  }

  /** The newest response, which tells what the client has been told already. */
  get newest(): ServerResponse | undefined {
    return this.#newest
  }

  /** Whether a request could come now without being in the way of anything. */
  get isIdle(): boolean {
    return (
      this.#held === undefined && this.#plain === undefined && this.#isBetweenRequests && this.unfinished.length === 0
    )
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
    return (this.#held?.length ?? 0) + this.socket.writableLength
  }

  /** Notes a request that is to be served; false when it is to be thrown away. */
  admit(response: ServerResponse): boolean {
    if (this.#isAtItsEnd) return false
    this.#newest = response
    this.#responses.push(response)
    const { req } = response
    if (req.headers.upgrade !== undefined) {
      // After such a request the parser throws away what is left of its input.
      const length = req.headers['transfer-encoding'] === undefined ? Number(req.headers['content-length'] ?? 0) : -1
      if (this.#behindHead > length) {
        this.#isLast = true
        response.setHeader('connection', 'close')
      }
    }
    return true
  }

  /** Notes a request that goes the short way. Until it is answered nothing else is taken. */
  begin(exchange: PlainExchange): void {
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
    const idleMsMax = socket.timeout ?? 0
    socket.write(text, (error) => {
      // Whoever removes the connection says that it was not answered.
      if (error != null) return
      this.#plain = undefined
      onAnswered()
      if (socket.timeout !== idleMsMax) socket.setTimeout(idleMsMax)
      if (isLast) socket.destroySoon()
      else if (this.#held !== undefined) this.#parts.onMore(this)
      else if (this.#hasEnded) this.#end()
    })
    if (isLast) this.#isLast = true
    // As Node.js has it while an answer waits to be read.
    if (socket.writableLength > 0) socket.setTimeout(this.#parts.unreadMsMax)
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

  /** Goes on after a time in which no new request was taken. */
  goOn(): void {
    if (this.#held !== undefined) this.#parts.onMore(this)
  }

  /** Gives the parser the next request, or the next piece of one. Gives whether there is more to take at once. */
  takeNext(): boolean {
    const held = this.#held
    if (held === undefined) return false
    if (this.#isOver) {
      this.#drop()
      return false
    }
    if (!this.#mayTake()) {
      this.#waitForAnswer()
      return false
    }
    const isInBody = this.#bodyLeft > 0
    const end = isInBody ? this.#bodyLeft : this.#heads.find(held)
    const length = end === -1 ? held.length : Math.min(end, held.length)
    this.#held = length === held.length ? undefined : held.subarray(length)
    this.#give(held.subarray(0, length), isInBody ? -1 : end)
    if (this.#held !== undefined) this.socket.pause()
    else if (this.#hasEnded) this.#end()
    else this.socket.resume()
    return this.#held !== undefined
  }

  /** @param packet valid until it returns. */
  #receive(packet: Buffer): void {
    if (this.#isOver) return
    // A connection's first request tells Node.js of it, too, and so begins to count the time that it is idle.
    if (this.isIdle && this.#newest !== undefined && this.#mayTake() && this.#parts.servePlain(this, packet)) return
    const bytes = Buffer.from(packet)
    if (this.#held === undefined && this.#mayTake()) {
      const end = this.#bodyLeft > 0 ? -1 : this.#heads.find(bytes)
      if (!this.#hasMore(bytes, end)) {
        this.#give(bytes, end)
        return
      }
    }
    this.#held = this.#held === undefined ? bytes : Buffer.concat([this.#held, bytes])
    this.socket.pause()
    this.#parts.onMore(this)
  }

  /** Whether some bytes are to be given to the parser in pieces. Most are one request, with its body. */
  #hasMore(bytes: Buffer, headEnd: number): boolean {
    if (this.#bodyLeft > 0) return bytes.length > this.#bodyLeft
    if (headEnd === -1 || headEnd === bytes.length) return false
    // What follows a request with an Upgrade in the same piece would be lost: see `admit`.
    return this.#heads.hasBegun || bytes.includes(blankLine, headEnd) || bytes.includes('pgrade')
  }

  /** Whether nothing that still comes will be looked at. */
  get #isOver(): boolean {
    return this.#isAtItsEnd && (this.#newest === undefined || this.#newest.req.complete)
  }

  /** Whether no further request is served: after an answer that says that it is the last (RFC 9112, section 9.6). */
  get #isAtItsEnd(): boolean {
    return this.isRefused || this.#isLast || (this.#newest as HttpResponse | undefined)?._last === true
  }

  #mayTake(): boolean {
    if ((this.socket as HttpSocket)._paused || this.#plain !== undefined) return false
    // The rest of a request that is being served.
    if (this.#newest !== undefined && !this.#newest.req.complete) return true
    if (this.#finds > 0 || this.#parts.isHolding()) return false
    return this.unfinished.length < this.#parts.pipelinedRequestsMax
  }

  #waitForAnswer(): void {
    const [first] = this.unfinished
    if (first === undefined || this.#isWaiting) return
    this.#isWaiting = true
    first.once('close', () => {
      this.#isWaiting = false
      if (this.#held !== undefined) this.#parts.onMore(this)
    })
  }

  /** @param headEnd where a head ends in the bytes; -1 when none does. */
  #give(bytes: Buffer, headEnd: number): void {
    const before = this.#newest
    this.#behindHead = headEnd === -1 ? 0 : bytes.length - headEnd
    this.#parse(bytes)
    const newest = this.#newest
    const inBody = this.#bodyLeft > 0
    if (newest !== undefined && newest !== before) {
      const { headers } = newest.req
      const length = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : 0
      this.#bodyLeft = Math.max(length - this.#behindHead, 0)
      this.#isBetweenRequests = newest.req.complete && (this.#behindHead === length || this.#endsHere(bytes, newest))
    } else {
      if (inBody) this.#bodyLeft = Math.max(this.#bodyLeft - bytes.length, 0)
      this.#isBetweenRequests = newest?.req.complete === true && (inBody || this.#endsHere(bytes, newest))
    }
    const isInHead = !this.#isBetweenRequests && this.#bodyLeft === 0
    if (isInHead) this.#heads.goOn(bytes)
    else this.#heads.end()
  }

  /** Whether a request whose length was not said ends with some bytes. */
  #endsHere(bytes: Buffer, { req }: ServerResponse): boolean {
    return hasBody(req) && bytes.toString('latin1', Math.max(bytes.length - blankLine.length, 0)) === blankLine
  }

  #drop(): void {
    this.#held = undefined
    // What still comes is read, and thrown away.
    if (!this.socket.destroyed) this.socket.resume()
  }
}
