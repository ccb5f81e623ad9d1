// A primary is killed under load while its standby cannot receive; the standby takes over, behind a proxy.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findLost } from '../crash/burst.ts'
import { untilWrong } from '../crash/control.ts'
import { openAll } from '../support/engines.ts'
import { hasReplication, makeCluster, untilStreaming } from '../support/postgres.ts'
import { exhaustive } from '../support/ring.ts'
import { serveHere } from '../support/service.ts'
import { Load } from './load.ts'
import { CuttingProxy } from './proxy.ts'

const clients = 8
const plants = 100
/** How long, or with how many plants, the primary goes on while the standby does not hear it. */
const deafMs = 150
const deafPlants = 30
/** A commit that has no answer is looked up for so long. */
const limits = { databaseCommitMsMax: 2_000 }

describe('failover', { skip: !hasReplication() && 'there is no pg_basebackup on this machine' }, () => {
  test('a failover to a synchronous standby loses no acknowledged plant', async (context) => {
    const { acknowledged, lost, failed } = await failOver(true)
    assert.equal(lost, 0)
    assert.ok(failed > 0, 'the failover came when nothing was under way')
    context.diagnostic(`${acknowledged} acknowledged, ${lost} lost, ${failed} repeated`)
  })

  exhaustive.test('control: a failover to an asynchronous standby is caught losing plants', async (context) => {
    const { acknowledged, lost } = await untilWrong('lost', () => failOver(false))
    assert.ok(lost > 0, 'nothing was lost: this test would not notice a broken promise')
    context.diagnostic(`${lost} of ${acknowledged} acknowledged plants were lost`)
  })
})

/** @param isSynchronous whether the primary waits for its standby. */
async function failOver(isSynchronous: boolean): Promise<Readonly<Record<'acknowledged' | 'lost' | 'failed', number>>> {
  await using primary = await makeCluster()
  // Nothing is committed before the standby is there.
  await primary.start(isSynchronous ? ['synchronous_standby_names=*'] : [])
  await using standby = await makeCluster(primary)
  await standby.start()
  await untilStreaming(primary)
  await using proxy = await CuttingProxy.start(primary.port)
  const store = primary.url.replace(String(primary.port), String(proxy.port))
  await using stack = new AsyncDisposableStack()
  const servers = await openAll([serveHere(store, limits), serveHere(store, limits)])
  for (const server of servers) stack.use(server)
  const load = await Load.start(servers, servers.map(({ token }) => token).join(''), clients)
  await load.untilMore(plants)
  await standby.stop('immediate')
  // A primary that does not wait for its standby goes on by itself.
  if (isSynchronous) await sleep(deafMs)
  else await load.untilMore(deafPlants)
  primary.signal('SIGKILL')
  await load.untilFailed(clients)
  await standby.start()
  await standby.promote()
  proxy.leadTo(standby.port)
  await load.untilMore(plants)
  const { acknowledged, failed } = await load.end()
  return { acknowledged: acknowledged.size, lost: (await findLost(store, acknowledged)).length, failed }
}
