// All connections of a server: whose turn it is, how much waits in them to be read, and who goes when it is too much.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../domain/clock.ts'
import { AppError } from '../../domain/errors.ts'
import type { AbortReason, Observe } from '../../domain/events.ts'
import { Connection, type Refuse, type ServePlain } from './connection.ts'
import { shownPath } from './exchange.ts'
import { LargeAnswers } from './large-answers.ts'
import { reset } from './linger.ts'
import { StageClocks, type StageLimits } from './stages.ts'

export interface ConnectionLimits extends StageLimits {
  readonly pipelinedRequestsMax: number
  readonly headerBytesMax: number
  readonly connectionCheckMs: number
  readonly arrivingBytesMax: number
  readonly lingerMsMax: number
  readonly unreadBytesMax: number
  readonly slowReaderMs: number
  readonly lastConnectionsMsMax: number
}

export interface ConnectionsOptions {
  readonly limits: ConnectionLimits
  readonly clock: Clock
  readonly observe: Observe
  /** The id that a request was given when it came. */
  readonly requestIdOf: (request: IncomingMessage) => string
}

/** Since when a connection waits for its client to read, and what had been written to it then. */
interface Wait {
  readonly sinceMs: number
  readonly bytesWritten: number
}

/** When the most that may wait is nearly reached, so much of it is kept free by sending the slowest readers away. */
const shareFilledMax = 0.75

/** Looks in a row, a millisecond apart, at which no new connection has come. */
const quietLooksNeeded = 5

const connectionOfSocket = Symbol('connection')

interface KnownSocket extends Socket {
  [connectionOfSocket]?: Connection
}

/** The connection of a socket that was added. */
export function connectionOf(socket: KnownSocket): Connection {
  const connection = findConnection(socket)
  if (connection === undefined) throw new TypeError('the socket is of no server')
  return connection
}

/** The connection of a socket; undefined for one that was not added. */
export function findConnection(socket: KnownSocket): Connection | undefined {
  return socket[connectionOfSocket]
}

export class Connections {
  readonly largeAnswers: LargeAnswers
  readonly #parts: ConnectionsOptions
  readonly #open = new Set<Connection>()
  /** Those that have more to take, in the order of their turns. */
  readonly #queue = new Set<Connection>()
  readonly #waits = new Map<Connection, Wait>()
  /** Bytes of requests that are still arriving, by their connections: those that began first come first. */
  readonly #arriving = new Map<Connection, number>()
  #arrivingBytes = 0
  readonly #clocks: StageClocks
  readonly #watch: NodeJS.Timeout
  #isTurning = false
  #isHolding = false
  #acceptedCount = 0

  constructor(parts: ConnectionsOptions) {
    this.#parts = parts
    const { limits } = parts
    this.largeAnswers = new LargeAnswers(limits)
    this.#clocks = new StageClocks(limits)
    this.#watch = setInterval(() => this.#look(), limits.connectionCheckMs).unref()
  }

  get count(): number {
    return this.#open.size
  }

  add(socket: KnownSocket, servePlain: ServePlain, refuse: Refuse): Connection {
    const { limits, clock } = this.#parts
    const connection = new Connection(socket, {
      pipelinedRequestsMax: limits.pipelinedRequestsMax,
      headerBytesMax: limits.headerBytesMax,
      lingerMsMax: limits.lingerMsMax,
      unreadMsMax: limits.unreadMsMax,
      openedAtMs: clock.monotonicMs(),
      isHolding: () => this.#isHolding,
      onMore: (each) => this.#queueUp(each),
      onArriving: (each) => this.#noteArriving(each),
      servePlain,
      refuse,
    })
    socket[connectionOfSocket] = connection
    this.#open.add(connection)
    this.#acceptedCount += 1
    socket.once('close', () => this.#remove(connection))
    return connection
  }

  /** Ends a connection whose client has read nothing for as long as it may. */
  endUnread(connection: Connection): void {
    if (connection.socket.writableLength > 0) this.#cut(connection, 'notRead')
  }

  /**
   * Accepts the connections that are being made, before the server stops listening: the system would reset those that
   * it has made and that were not accepted. Meanwhile no request is answered, as its client might then connect anew.
   */
  async takeLast(): Promise<void> {
    const { clock, limits } = this.#parts
    const endMs = clock.monotonicMs() + limits.lastConnectionsMsMax
    this.#isHolding = true
    let quietLooks = 0
    while (quietLooks < quietLooksNeeded && clock.monotonicMs() < endMs) {
      const before = this.#acceptedCount
      await sleep(1)
      quietLooks = this.#acceptedCount === before ? quietLooks + 1 : 0
    }
  }

  /** Goes on after `takeLast`. */
  goOn(): void {
    this.#isHolding = false
    for (const connection of this.#open) connection.goOn()
  }

  /** Closes those that are between two requests, but for new ones, whose first request is on its way. */
  closeIdle(openedBeforeMs: number): void {
    for (const connection of this.#open) {
      if (!connection.isIdle) continue
      if (connection.newest === undefined && connection.openedAtMs >= openedBeforeMs) continue
      connection.socket.destroy()
    }
  }

  closeAll(): void {
    for (const connection of this.#open) this.#cut(connection, 'serverStopped')
  }

  stop(): void {
    clearInterval(this.#watch)
  }

  #queueUp(connection: Connection): void {
    this.#queue.add(connection)
    if (this.#isTurning) return
    this.#isTurning = true
    setImmediate(() => this.#turn())
  }

  /** One request of one connection; then the event loop turns, so that new connections are served, too. */
  #turn(): void {
    const [connection] = this.#queue
    if (connection !== undefined) {
      this.#queue.delete(connection)
      if (connection.takeNext()) this.#queue.add(connection)
    }
    this.#isTurning = this.#queue.size > 0
    if (this.#isTurning) setImmediate(() => this.#turn())
  }

  #remove(connection: Connection): void {
    this.#open.delete(connection)
    this.#queue.delete(connection)
    this.#waits.delete(connection)
    this.#clocks.forget(connection)
    const { plain, endReason: reason, address: clientAddress } = connection
    if (plain !== undefined) {
      const { requestId, method, path } = plain
      this.#parts.observe({ kind: 'requestAborted', requestId, method, path, clientAddress, reason })
    }
    for (const response of connection.unfinished) {
      // Node.js says nothing of the end of those that were behind another one.
      this.largeAnswers.forget(response)
      const { req, writableFinished } = response
      if (writableFinished) continue
      this.#parts.observe({
        kind: 'requestAborted',
        requestId: this.#parts.requestIdOf(req),
        method: req.method ?? '',
        path: shownPath(req.url ?? ''),
        clientAddress,
        reason,
      })
    }
  }

  #cut(connection: Connection, reason: AbortReason): void {
    connection.endReason = reason
    // What waits in the system is dropped, too: it would be sent for minutes to a client that reads nothing.
    if (reason === 'serverStopped') connection.socket.destroy()
    else reset(connection.socket)
  }

  /** Keeps what is arriving below its limit: those that take the longest are refused first. */
  #noteArriving(connection: Connection): void {
    const bytes = connection.arrivingBytes
    const before = this.#arriving.get(connection) ?? 0
    if (bytes === before) return
    this.#arrivingBytes += bytes - before
    if (bytes === 0) this.#arriving.delete(connection)
    else this.#arriving.set(connection, bytes)
    if (this.#arrivingBytes <= this.#parts.limits.arrivingBytesMax) return
    const [slowest] = this.#arriving.keys()
    // It tells again, of what it has dropped.
    slowest?.refuse(new AppError('overloaded', 'too many requests are arriving slowly; try again'))
  }

  #look(): void {
    const nowMs = this.#parts.clock.monotonicMs()
    for (const connection of this.#open) {
      if (this.#clocks.hasExpired(connection, nowMs)) this.#expire(connection)
    }
    this.#sendSlowestAway(nowMs)
  }

  #expire(connection: Connection): void {
    switch (connection.stage) {
      case 'idle':
      case 'ending':
        connection.socket.destroy()
        break
      case 'head':
      case 'body':
        connection.refuse(new AppError('requestTimeout', 'the request did not arrive in time'))
        break
      case 'answering':
        this.#cut(connection, 'answerLate')
        break
    }
  }

  /** Keeps what waits to be read below its limit: connections that have read nothing for the longest are cut first. */
  #sendSlowestAway(nowMs: number): void {
    const { limits } = this.#parts
    let waitingBytes = 0
    for (const connection of this.#open) {
      const bytes = connection.waitingBytes
      if (bytes === 0) {
        this.#waits.delete(connection)
        continue
      }
      waitingBytes += bytes
      const { bytesWritten } = connection.socket
      if (this.#waits.get(connection)?.bytesWritten === bytesWritten) continue
      this.#waits.set(connection, { sinceMs: nowMs, bytesWritten })
    }
    const keptMax = limits.unreadBytesMax * shareFilledMax
    if (waitingBytes <= keptMax) return
    const slowest = [...this.#waits].sort(([, one], [, other]) => one.sinceMs - other.sinceMs)
    for (const [connection, { sinceMs }] of slowest) {
      if (waitingBytes <= keptMax) return
      if (waitingBytes <= limits.unreadBytesMax && nowMs - sinceMs < limits.slowReaderMs) return
      waitingBytes -= connection.waitingBytes
      this.#cut(connection, 'memoryShort')
    }
  }
}
