// One failover: a primary under load is killed while its standby cannot hear it, and the standby takes over.

import { setTimeout as sleep } from 'node:timers/promises'
import { findLost } from '../crash/burst.ts'
import { type Cluster, makeCluster } from '../support/postgres.ts'
import { type RunningServer, startServer } from '../support/program.ts'
import { Load } from './load.ts'

export interface FailoverReport {
  readonly acknowledged: number
  readonly lost: number
  /** Creates that were repeated as they had failed. */
  readonly failed: number
  /** From the promotion to the first create that was acknowledged after it, in milliseconds. */
  readonly backMs: number
}

const clients = 16
const before = 100
const after = 100
/** What the primary goes on with while the standby does not hear it. */
const deafMs = 150
const deafPlants = 30

/** @param isSynchronous whether the primary waits for its standby. */
export async function failOver(isSynchronous: boolean): Promise<FailoverReport> {
  await using primary = await makeCluster()
  // Nothing is committed before the standby is there.
  await primary.start(isSynchronous ? ['synchronous_standby_names=*'] : [])
  await using standby = await makeCluster(primary)
  await standby.start()
  await untilStreaming(primary)
  const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`).join(',')
  const store = `postgres://postgres@${hosts}/postgres?target_session_attrs=read-write`
  const servers: RunningServer[] = []
  for (let count = 0; count < 2; count += 1) servers.push(await startServer(store))
  try {
    const load = await Load.start(servers, servers.map(({ token }) => token).join(''), clients)
    await load.untilMore(before)
    await standby.stop('immediate')
    // A primary that does not wait for its standby goes on by itself.
    if (isSynchronous) await sleep(deafMs)
    else await load.untilMore(deafPlants)
    primary.signal('SIGKILL')
    await load.untilFailed(clients)
    await standby.start()
    await standby.promote()
    const promotedMs = performance.now()
    await load.untilMore(1)
    const backMs = performance.now() - promotedMs
    await load.untilMore(after)
    const { acknowledged, failed } = await load.end()
    const lost = await findLost(store, acknowledged)
    return { acknowledged: acknowledged.size, lost: lost.length, failed, backMs }
  } finally {
    for (const server of servers) await server[Symbol.asyncDispose]()
  }
}

export async function untilStreaming(primary: Cluster): Promise<void> {
  for (;;) {
    const rows = await primary.query(`SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'`)
    if (rows.length > 0) return
    await sleep(20)
  }
}
