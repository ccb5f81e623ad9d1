// The plants of examples/houseplants.ndjson, as they are, over HTTP.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Client } from '../support/client.ts'
import { makeFolder } from '../support/folder.ts'
import { readHouseplants } from '../support/houseplants.ts'
import { startServer } from '../support/program.ts'
import { openTestStore } from '../support/store.ts'

describe('the houseplants', () => {
  test('are some 100, with ids that no double holds and names in several scripts', async () => {
    const houseplants = await readHouseplants()
    assert.ok(houseplants.length >= 100)
    assert.ok(houseplants.some(({ plant: { id } }) => BigInt(Number(id)) !== id))
    for (const script of ['Latin', 'Han', 'Arabic', 'Cyrillic', 'Greek', 'Devanagari']) {
      const pattern = new RegExp(`\\p{Script=${script}}`, 'u')
      assert.ok(
        houseplants.some(({ plant: { name } }) => pattern.test(name)),
        script,
      )
    }
  })

  test('are all created, and kept digit for digit and byte for byte', async () => {
    await using folder = await makeFolder()
    const path = folder.file('plants.db')
    await using server = await startServer(path)
    const client = await Client.connect(server)
    await using connection = await client.open()
    const houseplants = await readHouseplants()
    for (const { line, plant } of houseplants) {
      const response = await connection.request({ body: line })
      assert.equal(response.status, 200, response.body)
      assert.equal(response.headers.get('location'), `/plants/${plant.id}`)
    }
    assert.equal(await server.stop(), 0)
    await using store = await openTestStore(path)
    for (const {
      plant: { id, ...rest },
    } of houseplants) {
      assert.deepEqual(await store.getPlant(id), rest)
    }
  })
})
