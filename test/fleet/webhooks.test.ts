// Webhooks while a server is killed. `npm run torture -- webhooks` has more kills, a fleet, freezes and the controls.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeFolder } from '../support/folder.ts'
import { killSenders } from './webhooks.ts'

describe('a webhook gets every change, those of a plant in order', () => {
  test('while the server of a file is killed, and the receiver fails and is away', async () => {
    await using folder = await makeFolder()
    const { changes, wrong } = await killSenders(folder.file('plants.db'), 1, 1, { awayMs: 50, clients: 2 })
    assert.ok(changes > 0)
    assert.equal(wrong, 0)
  })
})
