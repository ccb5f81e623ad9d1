// With the test runner of Node.js: node --test

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startPlantStore } from 'plantstore'
import { Garden } from './garden.js'

test('a garden lists its plants', async () => {
  await using store = await startPlantStore({ plants: [{ id: 1, name: 'Rose', tag: 'garden' }] })
  const garden = new Garden(store.url, store.token)
  await garden.plant(9007199254740993n, 'Lily')
  assert.deepEqual(await garden.names(), ['Rose', 'Lily'])
})

test('a garden plants once even if the response is lost', async () => {
  await using store = await startPlantStore()
  await store.fail({ operation: 'createPlant', afterCommit: true })
  await store.fail({ operation: 'createPlant', status: 503, retryAfter: 0 })
  await new Garden(store.url, store.token).plant(1, 'Rose')
  assert.deepEqual(await Array.fromAsync(store.client.listPlants()), [{ id: 1n, name: 'Rose', tag: 'garden' }])
})
