// The database freezes, restarts or is cut off: requests are rejected in time, nothing acknowledged is lost.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../../src/limits.ts'
import { findLost } from '../crash/burst.ts'
import { rejectsWith, walk } from '../store/suite.ts'
import { toPlant } from '../support/plants.ts'
import { exhaustiveOnCluster, loseStandby, needNoStandby, onCluster } from '../support/postgres.ts'
import { type RunningServer, startServer } from '../support/program.ts'
import { inRing } from '../support/ring.ts'
import { openTestStore, readPlant } from '../support/store.ts'
import { assertDuration, assertPrompt, until } from '../support/time.ts'
import { memoryOf } from '../torture/process-figures.ts'
import { Load } from './load.ts'

const clients = 8
/** Until a database that does not answer is found out. */
const refusalMsMax = limits.databaseProbeMs + limits.databaseProbeMsMax + limits.databaseGraceMs
const stopMsMax = 2_000
const growthBytesMax = 64 * 1024 * 1024

describe('a database that fails', () => {
  exhaustiveOnCluster('frozen: requests are refused in time, memory is flat', async (cluster, context) => {
    await using server = await startServer(cluster.url)
    const load = await Load.start([server], server.token, clients)
    await load.untilMore(500)
    const before = await memoryOf(server.process.pid)
    cluster.signal('SIGSTOP')
    await untilReadyIs(server, 503)
    await load.untilFailed(300)
    const growth = (await memoryOf(server.process.pid)) - before
    cluster.signal('SIGCONT')
    const thawedMs = performance.now()
    await untilReadyIs(server, 200)
    const backMs = performance.now() - thawedMs
    await load.untilMore(100)
    const { acknowledged, slowestMs } = await load.end()
    assertDuration(slowestMs, refusalMsMax)
    assert.ok(growth < growthBytesMax, `memory grew by ${growth} bytes`)
    assert.deepEqual(await findLost(cluster.url, acknowledged), [])
    const back = `back ${backMs.toFixed(0)} ms after the thaw`
    context.diagnostic(`slowest answer ${slowestMs.toFixed(0)} ms, ${back}, memory grew by ${growth} bytes`)
    assert.equal(await server.stop(), 0)
  })

  exhaustiveOnCluster('frozen: a server that is told to stop just then ends with status 0 in time', async (cluster) => {
    await using server = await startServer(cluster.url)
    const fleet = [server]
    const load = await Load.start(fleet, server.token, clients)
    await load.untilMore(200)
    cluster.signal('SIGSTOP')
    const stoppedMs = performance.now()
    assert.equal(await server.stop(), 0)
    assertPrompt(stoppedMs, stopMsMax)
    cluster.signal('SIGCONT')
    await using next = await startServer(cluster.url)
    fleet[0] = next
    const { acknowledged } = await load.end()
    assert.deepEqual(await findLost(cluster.url, acknowledged), [])
  })

  test('the parts of a stop leave room within the two seconds that it may take', () => {
    const { stopGraceMs, drainMsMax, storeCloseMsMax } = limits
    assert.ok(stopGraceMs + drainMsMax + storeCloseMsMax <= 0.85 * stopMsMax)
  })

  onCluster('crashed and restarted, again and again: nothing is lost', async (cluster, context) => {
    await using server = await startServer(cluster.url)
    const load = await Load.start([server], server.token, clients)
    const backMs: number[] = []
    for (let round = 0; round < inRing(1, 3); round += 1) {
      await load.untilMore(Math.ceil(Math.random() * 300))
      await cluster.stop(round % 2 === 0 ? 'immediate' : 'fast')
      await untilReadyIs(server, 503)
      await cluster.start()
      const startedMs = performance.now()
      await untilReadyIs(server, 200)
      backMs.push(Math.round(performance.now() - startedMs))
    }
    await load.untilMore(100)
    const { acknowledged, failed } = await load.end()
    assert.deepEqual(await findLost(cluster.url, acknowledged), [])
    context.diagnostic(`${acknowledged.size} plants, ${failed} creates repeated, back after ${backMs.join(', ')} ms`)
    assert.match(server.output.stdout, /"event":"storeAway"/)
    assert.match(server.output.stdout, /"event":"storeBack"/)
  })

  exhaustiveOnCluster('connections that are cut off one by one are not noticed by clients', async (cluster) => {
    // A busy machine may take longer than usual to connect anew.
    await using server = await startServer(cluster.url, { limits: { databaseGraceMs: 10_000 } })
    const load = await Load.start([server], server.token, clients)
    for (let round = 0; round < 6; round += 1) {
      await load.untilMore(200)
      const terminate = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plantstore'`
      await cluster.query(`${terminate}${round % 2 === 0 ? '' : ' LIMIT 1'}`)
    }
    await load.untilMore(200)
    const { acknowledged, failed } = await load.end()
    assert.equal(failed, 0)
    assert.deepEqual(await findLost(cluster.url, acknowledged), [])
  })

  exhaustiveOnCluster('without its standby changes are refused, and not logged; reads go on', async (cluster) => {
    await using store = await openTestStore(cluster.url, { limits: { databaseCommitMsMax: 2_000 } })
    const all = { after: undefined, kind: undefined, limit: 10 }
    const { next } = await store.listChanges(all)
    await store.createPlant(toPlant({ id: 1n, name: 'n' }))
    const connections = async (): Promise<number> =>
      (await cluster.query(`SELECT 1 FROM pg_stat_activity WHERE application_name = 'plantstore'`)).length
    const before = await connections()
    await loseStandby(cluster)
    await rejectsWith(store.createPlant(toPlant({ id: 2n, name: 'n' })), 'storeUnavailable')
    for (let id = 3n; id < 30n; id += 1n) await rejectsWith(store.createPlant(toPlant({ id, name: 'n' })), 'overloaded')
    await rejectsWith(store.listChanges(all), 'overloaded')
    await rejectsWith(store.listChanges({ ...all, after: next }), 'overloaded')
    assert.deepEqual(await readPlant(store, 1n), { name: 'n' })
    assert.equal(await connections(), before)
    await needNoStandby(cluster)
    for (;;) {
      const outcome = await store.createPlant(toPlant({ id: 30n, name: 'n' })).catch(({ code }) => code)
      if (outcome === 'created') break
      assert.equal(outcome, 'overloaded')
      await sleep(10)
    }
    assert.deepEqual(await walk(store, { limit: 10 }), [1n, 2n, 30n])
    await until('the log goes on', async () => {
      const page = await store.listChanges({ ...all, after: next }).catch(() => undefined)
      return page?.changes.length === 3
    })
  })
})

function untilReadyIs({ url }: RunningServer, status: number): Promise<void> {
  return until(`/readyz answers ${status}`, async () => (await fetch(`${url}/readyz`)).status === status)
}
