// Webhooks while a server is killed. `npm run torture -- webhooks` has more kills, a fleet, freezes and the controls.

import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { onPath } from '../support/store.ts'
import { killSenders } from './webhooks.ts'

describe('a webhook gets every change, those of a plant in order', () => {
  onPath('while the server of a file is killed, and the receiver fails and is away', async (path) => {
    const { changes, wrong } = await killSenders(path, 1, 1, { awayMs: 50, clients: 2 })
    assert.ok(changes > 0)
    assert.equal(wrong, 0)
  })
})
