// A server is killed with SIGKILL in the middle of a burst: everything it acknowledged has to be there afterwards.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inRing } from '../support/ring.ts'
import { killEarlyAck, killRounds } from './kill.ts'

const rounds = inRing(1, 6)

describe('kill -9', () => {
  test(`${rounds} kills in the middle of bursts lose no acknowledged plant`, async (context) => {
    const { acknowledged, lost } = await killRounds(rounds)
    assert.equal(lost, 0)
    context.diagnostic(`${acknowledged} plants acknowledged in ${rounds} rounds, 0 lost`)
  })

  test('control: a server that acknowledges before the commit is caught', async (context) => {
    const { rounds, lost } = await killEarlyAck()
    assert.ok(lost > 0, `${rounds} rounds lost nothing: this test would not notice a broken promise`)
    context.diagnostic(`${lost} acknowledged plants were lost in round ${rounds - 1}`)
  })
})
