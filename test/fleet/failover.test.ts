// A standby takes over from a primary that was killed under load.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits } from '../../src/limits.ts'
import { rejectsWith } from '../store/suite.ts'
import { hasReplication, makeCluster } from '../support/postgres.ts'
import { openTestStore } from '../support/store.ts'
import { until } from '../support/time.ts'
import { failOver, untilStreaming } from './failover.ts'

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

  test('a primary that goes on when its standby has taken over is left for that one', async () => {
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
    assert.deepEqual(await standby.query('SELECT id::int FROM plants ORDER BY id'), [[1], [2]])
  })
})
