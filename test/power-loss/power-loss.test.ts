// Power cuts at random moments under load. `npm run torture -- power-loss` has many more, and disks that fail.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noStrace } from '../support/strace.ts'
import { cutServers } from './power-loss.ts'
import { Random } from './random.ts'

test('a power cut loses nothing that was acknowledged, unless commits are not synced', { skip: noStrace }, async () => {
  const { own, control } = await cutServers(15, [100], new Random(Date.now()))
  assert.deepEqual(own, { states: 15, bad: 0, lost: 0, first: undefined })
  assert.ok(control.lost > 0)
})
