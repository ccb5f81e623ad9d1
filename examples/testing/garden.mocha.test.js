// With Mocha: npx mocha

import assert from 'node:assert/strict'
import { it } from 'mocha'
import { startPlantStore } from 'plantstore'
import { Garden } from './garden.js'

it('a garden lists its plants', async () => {
  await using store = await startPlantStore({ plants: [{ id: 1, name: 'Rose', tag: 'garden' }] })
  const garden = new Garden(store.url, store.token)
  await garden.plant(9007199254740993n, 'Lily')
  assert.deepEqual(await garden.names(), ['Rose', 'Lily'])
})
