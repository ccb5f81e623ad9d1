// The hosts of a database: which one is tried first, and which are refused because another one has taken over from them.

import type pg from 'pg'
import type { Host } from './address.ts'

/** Where a primary stands in the history of its cluster: each promotion begins a timeline, with the next number. */
export interface Position {
  /** Cluster that the history is of. One that was made anew, as by pg_upgrade, begins again at 1. */
  readonly system: string
  readonly timeline: bigint
}

/** Only primaries tell, and not every engine that speaks PostgreSQL's protocol does. */
const readPosition = `SELECT (SELECT system_identifier::text FROM pg_control_system()),
  ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint`

export class Hosts {
  readonly #hosts: readonly Host[]
  /** The latest timeline that was met, by cluster. */
  readonly #latest = new Map<string, bigint>()
  #first: Host | undefined

  /** @param hosts in the order in which they are tried. */
  constructor(hosts: readonly Host[]) {
    this.#hosts = hosts
  }

  /** All hosts but the one that is tried first. */
  get others(): readonly Host[] {
    return this.#hosts.filter((host) => host !== this.#first)
  }

  /** From now on a host is tried before the others. */
  prefer(host: Host): void {
    this.#first = host
  }

  /** Tries to open something on one host after the other. Throws what stood in the way on the last one. */
  async onFirst<T>(open: (host: Host) => Promise<T>): Promise<T> {
    let failure: unknown
    for (const host of this.#first === undefined ? this.#hosts : [this.#first, ...this.others]) {
      try {
        return await open(host)
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }

  /**
   * Reads the position of a host that a client is connected to; undefined when the host does not tell. Throws when
   * another host has taken over from it.
   */
  async admit(client: pg.Client, host: Host): Promise<Position | undefined> {
    const position = await positionOf(client)
    if (position === undefined) return undefined
    if (this.isFormer(position)) {
      throw new Error(
        `${host.host}:${host.port} is a former primary: it is on timeline ${position.timeline}, and another host has taken over on timeline ${this.#latest.get(position.system)}`,
      )
    }
    const latest = this.#latest.get(position.system)
    if (latest !== undefined && latest < position.timeline) this.#first = host
    this.#latest.set(position.system, position.timeline)
    return position
  }

  /** Whether another host has taken over from one at a position. */
  isFormer(position: Position | undefined): boolean {
    return position !== undefined && position.timeline < (this.#latest.get(position.system) ?? 0n)
  }
}

async function positionOf(client: pg.Client): Promise<Position | undefined> {
  try {
    const { rows } = await client.query<[string, bigint]>({ text: readPosition, rowMode: 'array' })
    const [system, timeline] = rows[0] ?? []
    return system === undefined || timeline === undefined ? undefined : { system, timeline }
  } catch {
    return undefined
  }
}
