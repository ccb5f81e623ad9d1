// A standby takes over from a primary that was killed under load.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceEvent } from '../../src/domain/events.ts'
import { limits } from '../../src/limits.ts'
import { rejectsWith } from '../store/suite.ts'
import { hasReplication, loseStandby, makeCluster } from '../support/postgres.ts'
import { exhaustive } from '../support/ring.ts'
import { openTestStore } from '../support/store.ts'
import { until } from '../support/time.ts'
import { failOver, untilStreaming } from './failover.ts'
import { wakeFormerPrimary } from './former-primary.ts'

const rounds = 1
const controlRoundsMax = 5

describe('failover', { skip: !hasReplication() && 'there is no pg_basebackup on this machine' }, () => {
  test(`a failover to a synchronous standby loses no acknowledged plant`, async (context) => {
    for (let round = 0; round < rounds; round += 1) {
      const { acknowledged, lost, failed, backMs } = await failOver(true)
      assert.equal(lost, 0)
      assert.ok(failed > 0, 'the failover came when nothing was under way')
      context.diagnostic(
        `${acknowledged} acknowledged, ${lost} lost, ${failed} repeated, back ${backMs.toFixed(0)} ms after the promotion`,
      )
    }
  })

  test('control: a failover to an asynchronous standby is caught losing plants', async (context) => {
    for (let round = 0; round < controlRoundsMax; round += 1) {
      const { acknowledged, lost } = await failOver(false)
      if (lost === 0) continue
      context.diagnostic(`${lost} of ${acknowledged} acknowledged plants were lost`)
      return
    }
    assert.fail('nothing was lost: this test would not notice a broken promise')
  })

  exhaustive.test('a former primary that wakes up is not used again', async () => {
    const { missing, misplaced } = await wakeFormerPrimary(false, 2)
    assert.deepEqual({ missing, misplaced }, { missing: 0, misplaced: 0 })
  })

  exhaustive.test(
    'a primary that goes on when its standby has taken over is left for that one, and not used again',
    async () => {
      await using primary = await makeCluster()
      await primary.start(['synchronous_standby_names=*'])
      await using standby = await makeCluster(primary)
      await standby.start()
      await untilStreaming(primary)
      const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`).join(',')
      const quick = { ...limits, databaseCommitMsMax: 500, databaseProbeMsMax: 500 }
      await using store = await openTestStore(`postgres://postgres@${hosts}/postgres`, { limits: quick })
      await store.createPlant({ id: 1n, name: 'n' })
      await standby.promote()
      const key = { callerId: 't', key: 'k' }
      await rejectsWith(store.createPlant({ id: 2n, name: 'n' }, key), 'storeUnavailable')
      // Over and over, as its client does.
      const create = (): Promise<unknown> => store.createPlant({ id: 2n, name: 'n' }, key).catch(({ code }) => code)
      await until('the create is acknowledged', async () => (await create()) === 'created')
      await standby.stop()
      // The former primary would take it, and wait for its standby.
      const codes = Array.from({ length: 3 }, () => store.createPlant({ id: 3n, name: 'n' }).catch(({ code }) => code))
      assert.deepEqual(await Promise.all(codes), ['storeAway', 'storeAway', 'storeAway'])
      await standby.start()
      await until('the store is back', () => store.isAvailable)
      await store.createPlant({ id: 4n, name: 'n' })
      assert.deepEqual(await standby.query('SELECT id::int FROM plants ORDER BY id'), [[1], [2], [4]])
    },
  )

  exhaustive.test('a primary that confirms no change is not left for a host that cannot be reached', async () => {
    await using cluster = await makeCluster()
    await cluster.start()
    const events: ServiceEvent[] = []
    const quick = { ...limits, databaseCommitMsMax: 300, databaseProbeMsMax: 500 }
    const url = `postgres://postgres@127.0.0.1:${cluster.port},127.0.0.1:1/postgres`
    await using store = await openTestStore(url, { limits: quick, observe: (event) => events.push(event) })
    await store.createPlant({ id: 1n, name: 'n' })
    await loseStandby(cluster)
    await rejectsWith(store.createPlant({ id: 2n, name: 'n' }), 'storeUnavailable')
    const startedMs = performance.now()
    while (performance.now() - startedMs < 3 * quick.databaseProbeMsMax) {
      assert.deepEqual(await store.getPlant(1n), { name: 'n' })
      await sleep(5)
    }
    assert.deepEqual(
      events.filter(({ kind }) => kind === 'storeAway'),
      [],
    )
    await cluster.query('ALTER SYSTEM RESET synchronous_standby_names')
    await cluster.query('SELECT pg_reload_conf()')
  })
})
