// With Jest, which needs a flag of Node.js for ES modules: NODE_OPTIONS=--experimental-vm-modules npx jest

import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { startPlantStore } from 'plantstore'
import { Garden } from './garden.js'

let store

beforeAll(async () => {
  store = await startPlantStore({ plants: [{ id: 1, name: 'Rose', tag: 'garden' }] })
})
beforeEach(() => store.reset())
afterAll(() => store.stop())

test('a garden lists its plants', async () => {
  const garden = new Garden(store.url, store.token)
  await garden.plant(9007199254740993n, 'Lily')
  expect(await garden.names()).toEqual(['Rose', 'Lily'])
})

test('a garden waits for a busy server', async () => {
  await store.fail({ operation: 'createPlant', status: 503, retryAfter: 0 })
  await new Garden(store.url, store.token).plant(2, 'Lily')
  expect((await store.client.getPlant(2)).name).toBe('Lily')
})
