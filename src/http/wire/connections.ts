// All connections of a server: schedules their requests, bounds their unread output, and decides which ones to close
// over the limit.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../domain/clock.ts'
import { AppError } from '../../domain/errors.ts'
import type { AbortReason, Observe } from '../../domain/events.ts'
import type { Limits } from '../../limits.ts'
import { Connection, type Refuse, type ServePlain } from './connection.ts'
import { shownPath } from './exchange.ts'
import { LargeAnswers } from './large-answers.ts'
import { reset } from './linger.ts'
import { closeWithConnection, isStream } from './parser-socket.ts'
import { StageClocks } from './stages.ts'

/** How long a stopping server accepts pending connections before it stops listening. */
const lastConnectionsMsMax = 100

export interface ConnectionsOptions {
  readonly limits: Limits
  readonly clock: Clock
  readonly observe: Observe
  /** The id assigned to a request on arrival. */
  readonly requestIdOf: (request: IncomingMessage) => string
}

/** When a connection began to wait for its client to read, and the bytes written by then. */
interface Wait {
  readonly sinceMs: number
  readonly bytesWritten: number
}

/** Share of the unread-bytes limit above which the slowest readers are cut. */
const shareFilledMax = 0.75

/** Consecutive checks, a millisecond apart, without a new connection. */
const quietLooksNeeded = 5

const connectionOfSocket = Symbol('connection')

interface KnownSocket extends Socket {
  [connectionOfSocket]?: Connection
}

/** Returns the connection of an added socket. */
export function connectionOf(socket: KnownSocket): Connection {
  const connection = findConnection(socket)
  if (connection === undefined) throw new TypeError('the socket is of no server')
  return connection
}

/** Returns the connection of a socket; undefined if it was not added. */
export function findConnection(socket: KnownSocket): Connection | undefined {
  return socket[connectionOfSocket]
}

export class Connections {
  readonly largeAnswers: LargeAnswers
  readonly #options: ConnectionsOptions
  readonly #open = new Set<Connection>()
  /** Connections with more requests to take, in order of their turns. */
  readonly #queue = new Set<Connection>()
  readonly #waits = new Map<Connection, Wait>()
  /** Bytes of arriving requests by connection, oldest first. */
  readonly #arriving = new Map<Connection, number>()
  #arrivingBytes = 0
  readonly #clocks: StageClocks
  readonly #watch: NodeJS.Timeout
  #isTurning = false
  #isHolding = false
  #acceptedCount = 0

  constructor(options: ConnectionsOptions) {
    this.#options = options
    const { limits } = options
    this.largeAnswers = new LargeAnswers(limits)
    this.#clocks = new StageClocks(limits)
    this.#watch = setInterval(() => this.#look(), limits.connectionCheckMs).unref()
  }

  get count(): number {
    return this.#open.size
  }

  add(socket: KnownSocket, servePlain: ServePlain, refuse: Refuse): Connection {
    const { limits, clock } = this.#options
    const connection = new Connection(socket, {
      limits,
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

  /** Closes a connection whose client has read nothing for the maximum time. */
  endUnread(connection: Connection): void {
    if (connection.socket.writableLength > 0) this.#cut(connection, 'notRead')
  }

  /**
   * Accepts connections still in the kernel's queue before the server stops listening, since the kernel would reset
   * them. Holds answers meanwhile, because an answered client might open another connection.
   */
  async takeLast(): Promise<void> {
    const { clock } = this.#options
    const endMs = clock.monotonicMs() + lastConnectionsMsMax
    this.#isHolding = true
    let quietLooks = 0
    while (quietLooks < quietLooksNeeded && clock.monotonicMs() < endMs) {
      const before = this.#acceptedCount
      await sleep(1)
      quietLooks = this.#acceptedCount === before ? quietLooks + 1 : 0
    }
  }

  /** Resumes after `takeLast`. */
  goOn(): void {
    this.#isHolding = false
    for (const connection of this.#open) connection.goOn()
  }

  /** Closes idle connections, except new ones, whose first request is in transit. */
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

  /** Takes one request of one connection per turn of the event loop, so that new connections are served, too. */
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
    this.largeAnswers.forget(connection)
    const { plain, endReason: reason, address: clientAddress } = connection
    if (plain !== undefined) {
      const { requestId, method, path } = plain
      this.#options.observe({ kind: 'requestAborted', requestId, method, path, clientAddress, reason })
    }
    for (const response of connection.unfinished) {
      closeWithConnection(response)
      this.largeAnswers.forget(response)
      const { req, writableFinished } = response
      // A client leaves a stream when it has had enough; routes.ts reports it.
      if (writableFinished || (isStream(response) && reason === 'clientLeft')) continue
      this.#options.observe({
        kind: 'requestAborted',
        requestId: this.#options.requestIdOf(req),
        method: req.method ?? '',
        path: shownPath(req.url ?? ''),
        clientAddress,
        reason,
      })
    }
  }

  #cut(connection: Connection, reason: AbortReason): void {
    connection.endReason = reason
    // A reset also discards the kernel's send buffer, which would be retransmitted for minutes to a client that reads
    // nothing.
    if (reason === 'serverStopped') connection.socket.destroy()
    else reset(connection.socket)
  }

  /** Bounds the bytes of arriving requests: refuses the oldest first. */
  #noteArriving(connection: Connection): void {
    const bytes = connection.arrivingBytes
    const before = this.#arriving.get(connection) ?? 0
    if (bytes === before) return
    this.#arrivingBytes += bytes - before
    if (bytes === 0) this.#arriving.delete(connection)
    else this.#arriving.set(connection, bytes)
    if (this.#arrivingBytes <= this.#options.limits.arrivingBytesMax) return
    const [slowest] = this.#arriving.keys()
    // Dropping the request calls this method again.
    slowest?.refuse(new AppError('overloaded', 'too many requests are arriving slowly; try again'))
  }

  #look(): void {
    const nowMs = this.#options.clock.monotonicMs()
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
      case 'streaming':
        break
    }
  }

  /** Bounds the bytes waiting to be read: cuts the connections that have read nothing for the longest time first. */
  #sendSlowestAway(nowMs: number): void {
    const { limits } = this.#options
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
