// With Vitest: npx vitest run

import { startPlantStore } from 'plantstore'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
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

test('a garden needs write access', async () => {
  const garden = new Garden(store.url, await store.tokenWith(['plants:read']))
  await expect(garden.plant(2, 'Lily')).rejects.toMatchObject({ status: 403 })
})
