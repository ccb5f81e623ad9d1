// The hosts of a database: selects which one is tried first, and rejects former primaries.

import type pg from 'pg'
import type { Host } from './address.ts'

/** The position of a primary in the history of its cluster. Each promotion starts the next timeline. */
export interface Position {
  /** The system identifier. A new cluster, for example after pg_upgrade, starts again at timeline 1. */
  readonly system: string
  readonly timeline: bigint
}

/** Works on primaries only, and not on every database that speaks PostgreSQL's protocol. */
const readPosition = `SELECT (SELECT system_identifier::text FROM pg_control_system()),
  ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint`

export class Hosts {
  readonly #hosts: readonly Host[]
  /** The latest known timeline, by cluster. */
  readonly #latest = new Map<string, bigint>()
  #first: Host | undefined

  /** @param hosts in the order of attempts. */
  constructor(hosts: readonly Host[]) {
    this.#hosts = hosts
  }

  /** All hosts but the preferred one. */
  get others(): readonly Host[] {
    return this.#hosts.filter((host) => host !== this.#first)
  }

  /** Makes a host the first to be tried. */
  prefer(host: Host): void {
    this.#first = host
  }

  /** Tries `open` on one host after another. Throws the error of the last one. */
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
   * Reads the position of a connected host; undefined if the host does not reveal it. Throws if another host has taken
   * over.
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

  /** Whether another host has taken over since this position. */
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
