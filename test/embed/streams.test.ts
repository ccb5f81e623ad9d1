// Streams of changes from startPlantStore: apart from start.test.ts, whose tests fake the timers that followers need.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startPlantStore } from '../../src/embed/start.ts'

test('a plant store inside a test cuts streams of changes on order, and followers go on', async () => {
  await using store = await startPlantStore()
  const { client } = store
  const failures: Error[] = []
  const stopping = new AbortController()
  const options = { signal: stopping.signal, onFailure: (error: Error) => failures.push(error) }
  const changes = client.followChanges({}, options)
  try {
    await client.createPlant({ id: 1, name: 'n' })
    assert.equal((await changes.next()).value?.plant.id, 1n)
    // First the open stream and the request after it, then the stream that has followed.
    for (const [at, times] of [2, 1].entries()) {
      const next = changes.next()
      await store.fail({ operation: 'listChanges', times })
      await client.createPlant({ id: at + 2, name: 'n' })
      assert.equal((await next).value?.plant.id, BigInt(at + 2))
      assert.equal(failures.length, at + 2)
    }
  } finally {
    stopping.abort()
    await assert.rejects(changes.next())
  }
})
