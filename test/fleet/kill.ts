// Kills servers of a fleet on PostgreSQL with SIGKILL under load, and looks for everything that the fleet had
// acknowledged.

import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { findLost } from '../crash/burst.ts'
import { type RunningServer, type ServerOptions, startServer } from '../support/program.ts'
import { inRing } from '../support/ring.ts'
import { Load } from './load.ts'

export interface FleetKillReport {
  readonly acknowledged: number
  readonly lost: number
  /** Creates that were repeated as they had failed. */
  readonly failed: number
  /** Of those, the ones that had been done all the same. */
  readonly replayed: number
}

const servers = inRing(2, 3)
const clients = inRing(8, 24)
/** A server whose database answers late exits, and its unit starts it again. Here, it waits for a busy machine. */
export const patient: ServerOptions = { environment: { PGCONNECT_TIMEOUT: '10' } }
const earlyAck = fileURLToPath(new URL('../crash/early-ack.ts', import.meta.url))

/**
 * Kills one server after the other, so many in all, and starts another in its place each time.
 *
 * @param store URL of a place in a database.
 * @param isEarly whether the servers say yes before the commit: the control.
 */
export async function killServers(store: string, kills: number, isEarly = false): Promise<FleetKillReport> {
  const options: ServerOptions = isEarly ? { ...patient, entry: earlyAck } : patient
  const fleet: RunningServer[] = []
  try {
    for (let count = 0; count < servers; count += 1) fleet.push(await startServer(store, options))
    const token = fleet.map((server) => server.token).join('')
    const load = await Load.start(fleet, token, clients, { readsBack: !isEarly })
    for (let kill = 0; kill < kills; kill += 1) {
      await load.untilMore(Math.ceil(Math.random() * 200))
      const victim = kill % servers
      await fleet[victim]?.stop('SIGKILL')
      fleet[victim] = await startServer(store, options)
    }
    await load.untilMore(100)
    const { acknowledged, failed, replayed } = await load.end()
    assert.ok(failed > 0, 'the kills came when nothing was under way')
    for (const server of fleet) assert.equal(await server.stop(isEarly ? 'SIGKILL' : 'SIGTERM'), isEarly ? null : 0)
    return { acknowledged: acknowledged.size, lost: (await findLost(store, acknowledged)).length, failed, replayed }
  } finally {
    for (const server of fleet) await server[Symbol.asyncDispose]()
  }
}
