// Webhooks under kills and freezes, a few of `npm run torture -- webhooks`.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeFolder } from '../support/folder.ts'
import { startDatabase } from '../support/postgres.ts'
import { exhaustive } from '../support/ring.ts'
import { freezeSender, killSenders } from './webhooks.ts'

describe('a webhook gets every change, those of a plant in order', () => {
  test('while the server of a file is killed, and the receiver fails and is away', async () => {
    await using folder = await makeFolder()
    const { changes, wrong } = await killSenders(folder.file('plants.db'), 1, 1, { awayMs: 50, clients: 2 })
    assert.ok(changes > 0)
    assert.equal(wrong, 0)
  })

  exhaustive.test('which a sender that forgets what was not accepted does not give: the control', async () => {
    await using folder = await makeFolder()
    const { wrong } = await killSenders(folder.file('plants.db'), 1, 4, { awayMs: 500, isForgetful: true })
    assert.ok(wrong > 0)
  })

  exhaustive.test('while servers of a fleet are killed', async () => {
    await using database = await startDatabase()
    const { changes, wrong } = await killSenders(await database.makePlace(), 3, 4, { awayMs: 500 })
    assert.ok(changes > 0)
    assert.equal(wrong, 0)
  })

  exhaustive.test('while the server that sends is frozen, and sends nothing late when it wakes up', async () => {
    await using database = await startDatabase()
    const { late, wrong } = await freezeSender(await database.makePlace(), 1, false)
    assert.deepEqual([late, wrong], [0, 0])
  })

  exhaustive.test('which servers that do not notice do not give: the control', async () => {
    await using database = await startDatabase()
    assert.ok((await freezeSender(await database.makePlace(), 2, true)).late > 0)
  })
})
