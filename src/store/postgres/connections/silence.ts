// Distinguishes a connection that loses packets from one with a slow query. Both are silent, and TCP takes 15 minutes
// to tell them apart. PostgreSQL knows immediately whether a session is working or waiting for its client.

import type { Clock } from '../../../domain/clock.ts'
import type { Connection, Statement } from './connection.ts'

/** Sessions that do not wait for their clients, but work, or wait for a lock or a standby. */
const findBusy: Statement = {
  name: 'findBusySessions',
  text: `SELECT pid FROM pg_stat_activity WHERE pid = ANY($1::int4[]) AND wait_event_type IS DISTINCT FROM 'Client'`,
}

interface Heard {
  readonly received: number
  /** Since when an answer is pending and nothing has arrived, by the monotonic clock. */
  readonly sinceMs: number
}

export class Silence {
  readonly #connections: readonly Connection[]
  readonly #silenceMs: number
  readonly #clock: Clock
  readonly #heard = new Map<Connection, Heard>()
  /** Connections whose sessions waited for their client at the last check. */
  #suspects: readonly Connection[] = []

  /** @param silenceMs how long a connection may be silent before PostgreSQL is asked. */
  constructor(connections: readonly Connection[], silenceMs: number, clock: Clock) {
    this.#connections = connections
    this.#silenceMs = silenceMs
    this.#clock = clock
  }

  /**
   * Finds a connection that no longer transmits anything. It takes two checks, because the answer may be in transit at
   * the first.
   *
   * @param prober another connection to the same server.
   */
  async find(prober: Connection): Promise<Connection | undefined> {
    const nowMs = this.#clock.monotonicMs()
    const overdue = this.#connections.filter((connection) => this.#silentMs(connection, nowMs) >= this.#silenceMs)
    const before = this.#suspects
    this.#suspects = []
    if (overdue.length === 0) return undefined
    const rows = await prober.query(findBusy, [overdue.map(({ backendId }) => backendId)])
    const busy = new Set(rows.map(([id]) => id))
    this.#suspects = overdue.filter((each) => !busy.has(each.backendId) && this.#silentMs(each, nowMs) > 0)
    return this.#suspects.find((connection) => before.includes(connection))
  }

  #silentMs(connection: Connection, nowMs: number): number {
    const { received } = connection
    const heard = this.#heard.get(connection)
    if (connection.pending > 0 && heard?.received === received) return nowMs - heard.sinceMs
    if (connection.pending > 0) this.#heard.set(connection, { received, sinceMs: nowMs })
    else this.#heard.delete(connection)
    return 0
  }
}
