// Webhooks while a server is killed. `npm run torture -- webhooks` has more kills, a fleet, freezes and the controls.

import assert from 'node:assert/strict'
import { onPath } from '../support/store.ts'
import { killSenders } from './webhooks.ts'

onPath('a webhook gets every change while its server is killed, and those of a plant in order', async (path) => {
  const { changes, wrong } = await killSenders(path, 1, 1, { awayMs: 50, clients: 2 })
  assert.ok(changes > 0)
  assert.equal(wrong, 0)
})
