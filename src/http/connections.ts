// All connections of a server: whose turn it is, how much waits in them to be read, and who goes when it is too much.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import type { AbortReason, Observe } from '../domain/events.ts'
import { Connection, type ServePlain } from './connection.ts'
import { shownPath } from './exchange.ts'
import { reset } from './linger.ts'

export interface ConnectionLimits {
  readonly pipelinedRequestsMax: number
  readonly lingerMsMax: number
  readonly unreadMsMax: number
  readonly unreadBytesMax: number
  readonly unreadCheckMs: number
  readonly slowReaderMs: number
  readonly lastConnectionsMsMax: number
}

export interface ConnectionsParts {
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

/** Looks in a row, a millisecond apart, at which nobody new has come. */
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
  readonly #parts: ConnectionsParts
  readonly #open = new Set<Connection>()
  /** Those that have more to take, in the order of their turns. */
  readonly #queue = new Set<Connection>()
  readonly #waits = new Map<Connection, Wait>()
  readonly #watch: NodeJS.Timeout
  #isTurning = false
  #isHolding = false
  #acceptedCount = 0
  #largeAnswerBytes = 0
  /** Those that wait to be read, in bytes. */
  readonly #largeAnswers = new Map<ServerResponse, number>()
  /** Those that wait to be looked for. */
  readonly #finds: (() => void)[] = []

  constructor(parts: ConnectionsParts) {
    this.#parts = parts
    this.#watch = setInterval(() => this.#sendSlowestAway(), parts.limits.unreadCheckMs).unref()
  }

  get count(): number {
    return this.#open.size
  }

  add(socket: KnownSocket, servePlain: ServePlain): Connection {
    const { limits, clock } = this.#parts
    const connection = new Connection(socket, {
      pipelinedRequestsMax: limits.pipelinedRequestsMax,
      lingerMsMax: limits.lingerMsMax,
      unreadMsMax: limits.unreadMsMax,
      openedAtMs: clock.monotonicMs(),
      isHolding: () => this.#isHolding,
      onMore: (each) => this.#queueUp(each),
      servePlain,
    })
    socket[connectionOfSocket] = connection
    this.#open.add(connection)
    this.#acceptedCount += 1
    socket.once('close', () => this.#remove(connection))
    return connection
  }

  /**
   * Looks for a large answer when its turn has come. In each turn of the event loop one is begun, so that small ones are
   * not kept waiting by many of them.
   *
   * @throws AppError `overloaded` when too many bytes wait; otherwise what `find` throws.
   */
  findLargeAnswer<T>({ socket }: IncomingMessage, find: () => T | Promise<T>): Promise<T> {
    return connectionOf(socket).holdWhile(async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#finds.push(resolve)
      if (this.#finds.length === 1) setImmediate(() => this.#beginLargeAnswer())
      await promise
      this.#assertRoom()
      return find()
    })
  }

  /** Throws an AppError when a large answer would be made for nothing: its client has left, or too many bytes wait. */
  assertWanted({ socket }: IncomingMessage): void {
    if (socket.destroyed) throw new AppError('overloaded', 'the client has left')
    this.#assertRoom()
  }

  /**
   * Counts a large answer until it is read, or its connection ends.
   *
   * @throws AppError `overloaded` when too many bytes wait: others may have been written since it was looked for.
   */
  addLargeAnswer(response: ServerResponse, bytes: number): void {
    this.#assertRoom()
    if (response.req.socket.destroyed) return
    this.#largeAnswers.set(response, bytes)
    this.#largeAnswerBytes += bytes
    response.once('close', () => this.#forgetLargeAnswer(response))
  }

  /** A connection on which nothing has moved for as long as it may. */
  end(connection: Connection): void {
    if (connection.waitingBytes > 0) this.#cut(connection, 'notRead')
    else if (connection.isIdle) connection.socket.destroy()
  }

  /**
   * Takes connections that are being made, before nobody is let in any more: the system would reset those that it has
   * made and that were not taken. Meanwhile nobody is answered who would then connect anew.
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

  #beginLargeAnswer(): void {
    this.#finds.shift()?.()
    if (this.#finds.length > 0) setImmediate(() => this.#beginLargeAnswer())
  }

  #assertRoom(): void {
    if (this.#largeAnswerBytes < this.#parts.limits.unreadBytesMax) return
    throw new AppError('overloaded', 'too many pages are waiting for other clients to read them; try again')
  }

  /** One request of one connection; then the event loop turns, and whoever came meanwhile is served, too. */
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
    const { plain, endReason: reason, address: clientAddress } = connection
    if (plain !== undefined) {
      const { requestId, method, path } = plain
      this.#parts.observe({ kind: 'requestAborted', requestId, method, path, clientAddress, reason })
    }
    for (const response of connection.unfinished) {
      // Node.js says nothing of the end of those that were behind another one.
      this.#forgetLargeAnswer(response)
      const { req, writableFinished } = response
      if (writableFinished) continue
      this.#parts.observe({
        kind: 'requestAborted',
        requestId: this.#parts.requestIdOf(req),
        method: req.method ?? '',
        path: shownPath(req.url ?? ''),
        ...{ clientAddress, reason },
      })
    }
  }

  #forgetLargeAnswer(response: ServerResponse): void {
    this.#largeAnswerBytes -= this.#largeAnswers.get(response) ?? 0
    this.#largeAnswers.delete(response)
  }

  #cut(connection: Connection, reason: AbortReason): void {
    connection.endReason = reason
    // What waits in the system goes, too, where nobody reads it: left to itself that would be sent on for minutes.
    if (reason === 'serverStopped') connection.socket.destroy()
    else reset(connection.socket)
  }

  /** Sees to it that what waits to be read stays below its limit: whoever has read nothing for the longest goes first. */
  #sendSlowestAway(): void {
    const { clock, limits } = this.#parts
    const nowMs = clock.monotonicMs()
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
