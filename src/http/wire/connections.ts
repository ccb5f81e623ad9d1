// All connections of a server: schedules their requests, bounds their unread output, and decides which ones to close
// over the limit.

import { once } from 'node:events'
import type { Server, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../domain/errors.ts'
import { Connection, type ConnectionOptions } from './connection.ts'

/** How long a stopping server accepts pending connections before it stops listening: as long as they keep coming. */
const lastConnectionsMsMax = 500
/** From then on, a single quiet check is enough. */
const fewConnectionsMs = 400
/** Interval at which a stopping server checks for idle connections. */
const drainCheckMs = 20

/** Excess connections that are answered at the same time. Others are closed without an answer. */
export const refusedConnectionsMax = 32

export type ConnectionsOptions = Omit<ConnectionOptions, 'isHolding' | 'onMore' | 'onArriving'>

/** Share of the unread-bytes limit above which the slowest readers are cut. */
const shareFilledMax = 0.75

/** Consecutive checks, a millisecond apart, without a new connection. */
const quietLooksNeeded = 25

export class Connections {
  readonly #options: ConnectionOptions
  readonly #open = new Set<Connection>()
  /** The TCP connections of TLS. */
  readonly #underTls = new Set<Socket>()
  /** Connections with more requests to take, in order of their turns. */
  readonly #queue = new Set<Connection>()
  /** When a connection began to wait for its client to read, and the bytes written by then. */
  readonly #waits = new Map<Connection, { readonly sinceMs: number; readonly bytesWritten: number }>()
  /** Bytes of arriving requests by connection, oldest first. */
  readonly #arriving = new Map<Connection, number>()
  #arrivingBytes = 0
  readonly #watch: NodeJS.Timeout
  #isTurning = false
  #isHolding = false
  #acceptedCount = 0

  constructor(options: ConnectionsOptions) {
    this.#options = {
      ...options,
      isHolding: () => this.#isHolding,
      onMore: (each) => this.#queueUp(each),
      onArriving: (each) => this.#noteArriving(each),
    }
    this.#watch = setInterval(() => this.#look(), options.limits.connectionCheckMs).unref()
  }

  get count(): number {
    return this.#open.size
  }

  /** Adds a TCP connection that `drain` closes even if its TLS handshake never ends. */
  addHandshake(socket: Socket): void {
    this.#underTls.add(socket)
    socket.once('close', () => this.#underTls.delete(socket))
  }

  /** Serves a connection, or refuses it if there are too many. */
  add(socket: Socket): void {
    const { connectionsMax } = this.#options.limits
    if (this.#open.size >= connectionsMax + refusedConnectionsMax) {
      socket.destroy()
      return
    }
    const connection = new Connection(socket, this.#options)
    this.#open.add(connection)
    this.#acceptedCount += 1
    socket.once('close', () => {
      this.#open.delete(connection)
      this.#queue.delete(connection)
      this.#waits.delete(connection)
    })
    if (this.#open.size <= connectionsMax) return
    connection.refuse(
      new AppError('overloaded', `there are more than the ${connectionsMax} connections allowed; try again`),
    )
  }

  /**
   * Stops a server without failing a request. For a grace period, every answer asks its client to close the connection,
   * so that none is closed while a request is in transit. Then the server refuses new connections, closes idle ones, and
   * finally cuts the rest.
   */
  async drain(server: Server): Promise<void> {
    const { limits, clock } = this.#options
    await sleep(limits.stopGraceMs)
    const heldSinceMs = clock.monotonicMs()
    const graceBeganMs = heldSinceMs - limits.stopGraceMs
    this.#isHolding = true
    await this.#untilQuiet()
    const closed = once(server, 'close')
    server.close()
    this.#isHolding = false
    for (const connection of this.#open) connection.takeNext()
    const closeIdle = (): void => {
      for (const connection of this.#open) {
        // The first request of a new connection is in transit.
        if (!connection.isQuiet || (connection.isNew && connection.openedAtMs >= graceBeganMs)) continue
        connection.socket.destroy()
      }
    }
    // On a busy machine, timers may be due before requests are read that have arrived: these come first.
    const closing = setInterval(() => setImmediate(closeIdle), drainCheckMs)
    const cut = setTimeout(
      () => {
        for (const connection of this.#open) connection.cut('serverStopped')
        for (const socket of this.#underTls) socket.destroy()
      },
      limits.drainMsMax - (clock.monotonicMs() - heldSinceMs),
    )
    await closed
    clearInterval(closing)
    clearTimeout(cut)
    clearInterval(this.#watch)
  }

  /**
   * Waits until the kernel's queue has no connection, because the kernel resets those when the server stops listening.
   * No requests are taken in the meantime: a client that gets its answer might open another connection. Each turn of the
   * event loop accepts only one, so the time alone does not end this while there are more.
   */
  async #untilQuiet(): Promise<void> {
    const { clock } = this.#options
    const beganMs = clock.monotonicMs()
    let quietLooks = 0
    for (let heldMs = 0; heldMs < lastConnectionsMsMax; heldMs = clock.monotonicMs() - beganMs) {
      if (quietLooks >= (heldMs < fewConnectionsMs ? quietLooksNeeded : 1)) return
      const before = this.#acceptedCount
      await sleep(1)
      // On a busy machine, the timer may be due before connections are accepted that wait: these come first.
      await new Promise(setImmediate)
      quietLooks = this.#acceptedCount === before ? quietLooks + 1 : 0
    }
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
      connection.takeNext()
    }
    this.#isTurning = this.#queue.size > 0
    if (this.#isTurning) setImmediate(() => this.#turn())
  }

  /** Bounds the bytes of arriving requests: rejects the oldest first. */
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
      if (connection.hasExpired(nowMs)) connection.expire()
    }
    this.#sendSlowestAway(nowMs)
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
      connection.cut('memoryShort')
    }
  }
}
