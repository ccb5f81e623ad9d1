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
    const second = changes.next()
    await store.fail({ operation: 'listChanges', times: 2 })
    await client.createPlant({ id: 2, name: 'n' })
    assert.equal((await second).value?.plant.id, 2n)
    // One was the open stream, the other a request.
    assert.equal(failures.length, 2)
  } finally {
    stopping.abort()
    await assert.rejects(changes.next())
  }
})
