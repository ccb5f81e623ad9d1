// Tells a connection whose packets are lost from one whose answer takes its time. Both are silent, and TCP tells them
// apart after a quarter of an hour; PostgreSQL knows at once whether the session works or waits for its client.

import type { Clock } from '../../../domain/clock.ts'
import type { Connection, Statement } from './connection.ts'

/** Sessions that do not wait for their clients. Whether one works, or waits for a lock or a standby, is all the same. */
const findBusy: Statement = {
  name: 'findBusySessions',
  text: `SELECT pid FROM pg_stat_activity WHERE pid = ANY($1::int4[]) AND wait_event_type IS DISTINCT FROM 'Client'`,
}

interface Heard {
  readonly received: number
  /** Since when an answer is awaited and nothing has come, by the monotonic clock. */
  readonly sinceMs: number
}

export class Silence {
  readonly #connections: readonly Connection[]
  readonly #silenceMs: number
  readonly #clock: Clock
  readonly #heard = new Map<Connection, Heard>()
  /** Those for which PostgreSQL waited at the last look. */
  #suspects: readonly Connection[] = []

  /** @param silenceMs how long a connection may be silent before PostgreSQL is asked. */
  constructor(connections: readonly Connection[], silenceMs: number, clock: Clock) {
    this.#connections = connections
    this.#silenceMs = silenceMs
    this.#clock = clock
  }

  /**
   * A connection over which nothing gets through any more. Each is found at the second look: at the first its answer
   * may be on its way.
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
