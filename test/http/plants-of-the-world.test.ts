// Plants with ids that no double holds, and names in many scripts, over HTTP; and the example plants.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { Client } from '../support/client.ts'
import { makeFolder } from '../support/folder.ts'
import { readPlantsOfTheWorld } from '../support/plants-of-the-world.ts'
import { startServer } from '../support/program.ts'
import { openTestStore } from '../support/store.ts'

describe('plants of the world', () => {
  test('are some 100, with ids that no double holds and names in several scripts', async () => {
    const written = await readPlantsOfTheWorld()
    assert.ok(written.length >= 100)
    assert.ok(written.some(({ plant: { id } }) => BigInt(Number(id)) !== id))
    for (const script of ['Latin', 'Han', 'Arabic', 'Cyrillic', 'Greek', 'Devanagari']) {
      const pattern = new RegExp(`\\p{Script=${script}}`, 'u')
      assert.ok(
        written.some(({ plant: { name } }) => pattern.test(name)),
        script,
      )
    }
  })

  test('are none of the example plants, which have small ids and a few tags', async () => {
    const text = await readFile(new URL('../../examples/houseplants.ndjson', import.meta.url), 'utf8')
    const plants = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      plants.map(({ id }) => id),
      Array.from({ length: 60 }, (_, index) => index + 1),
    )
    assert.ok(new Set(plants.map(({ tag }) => tag)).size <= 15)
  })

  test('are all created, and kept digit for digit and byte for byte', async () => {
    await using folder = await makeFolder()
    const path = folder.file('plants.db')
    await using server = await startServer(path)
    const client = await Client.connect(server)
    await using connection = await client.open()
    const written = await readPlantsOfTheWorld()
    for (const { line, plant } of written) {
      const response = await connection.request({ body: line })
      assert.equal(response.status, 200, response.body)
      assert.equal(response.headers.get('location'), `/plants/${plant.id}`)
    }
    assert.equal(await server.stop(), 0)
    await using store = await openTestStore(path)
    for (const {
      plant: { id, ...rest },
    } of written) {
      assert.deepEqual(await store.getPlant(id), rest)
    }
  })
})
