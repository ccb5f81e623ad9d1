// A host that has taken over from a primary which does not know: its cluster manager is frozen, or gone. That primary
// still answers, but its standbys have left it, and nobody confirms its changes any more.

import type { Host } from './address.ts'
import { openForBulk } from './bulk.ts'
import type { Connection, Statement } from './connection.ts'
import type { DatabaseOptions } from './options.ts'

/** Each promotion begins a timeline, with the next number; only primaries tell. */
const readTimeline: Statement = {
  name: 'readTimeline',
  text: `SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint`,
}

/**
 * One of the other hosts that takes changes on a later timeline; undefined when there is none.
 *
 * @param reader a connection to the host that is in use.
 */
export async function findSuccessor(
  host: Host,
  reader: Connection,
  options: DatabaseOptions,
): Promise<Host | undefined> {
  const others = options.address.hosts.filter((each) => each !== host)
  if (others.length === 0) return undefined
  const [own, ...timelines] = await Promise.all([
    timelineOf(reader),
    ...others.map((each) => timelineOn({ ...options, address: { ...options.address, hosts: [each] } })),
  ])
  return others.find((_, index) => own !== undefined && (timelines[index] ?? own) > own)
}

/** Undefined when the host takes no changes, or cannot be reached. */
async function timelineOn(options: DatabaseOptions): Promise<bigint | undefined> {
  const connection = await openForBulk(options, options.limits.databaseProbeMsMax).catch(() => undefined)
  if (connection === undefined) return undefined
  try {
    return await timelineOf(connection)
  } finally {
    connection.close().catch(() => {})
  }
}

async function timelineOf(connection: Connection): Promise<bigint | undefined> {
  const rows = await connection.query(readTimeline).catch(() => [])
  return rows[0]?.[0] as bigint | undefined
}
