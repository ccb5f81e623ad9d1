// A client of one machine that does not care who the primary is: it writes for as long as the machine lets it.

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { until } from '../../support/time.ts'
import type { Machine } from './machines.ts'

const answerMsMax = 500
const pauseMs = 10

export interface Seen {
  /** Rows that the machine confirmed. */
  readonly confirmed: readonly number[]
  /** When it last said that it was a primary, by the monotonic clock; 0: never. */
  readonly primaryAtMs: number
}

export class Witness {
  readonly #machine: Machine
  readonly #password: string
  readonly #confirmed: number[] = []
  readonly #running: Promise<void>
  #primaryAtMs = 0
  #isEnding = false

  static readonly table = 'CREATE TABLE IF NOT EXISTS witness (n bigint PRIMARY KEY)'

  /** @param numbers those of its rows. */
  constructor(machine: Machine, password: string, numbers: Iterator<number>) {
    this.#machine = machine
    this.#password = password
    this.#running = this.#run(numbers)
  }

  /** Waits until the machine has confirmed a row. */
  async begin(): Promise<void> {
    await until('a machine confirms a row', () => this.#confirmed.length > 0)
  }

  async end(): Promise<Seen> {
    this.#isEnding = true
    await this.#running
    return { confirmed: this.#confirmed, primaryAtMs: this.#primaryAtMs }
  }

  async #run(numbers: Iterator<number>): Promise<void> {
    while (!this.#isEnding) {
      await this.#write(numbers)
      await sleep(pauseMs)
    }
  }

  /** Writes until it is refused or kept waiting. */
  async #write(numbers: Iterator<number>): Promise<void> {
    const client = new pg.Client({
      host: this.#machine.address,
      user: 'postgres',
      password: this.#password,
      database: 'postgres',
      connectionTimeoutMillis: answerMsMax,
      query_timeout: answerMsMax,
    })
    client.on('error', () => {})
    try {
      await client.connect()
      while (!this.#isEnding) {
        const { rows } = await client.query({ text: 'SELECT pg_is_in_recovery()', rowMode: 'array' })
        if (rows[0]?.[0] !== false) return
        this.#primaryAtMs = performance.now()
        const number = numbers.next().value
        await client.query('INSERT INTO witness VALUES ($1)', [number])
        this.#confirmed.push(number)
        await sleep(pauseMs)
      }
    } catch {
      // That the machine is gone, frozen, a standby or waits for one is what this is here for.
    } finally {
      client.connection.stream.destroy()
    }
  }
}
