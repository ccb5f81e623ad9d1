// A standby takes over from a primary that was killed under load.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hasReplication } from '../support/postgres.ts'
import { failOver } from './failover.ts'

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
})
