// The numbers of plants over HTTP, on every engine.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '../support/client.ts'
import { describeOnEngines } from '../support/engines.ts'
import { startServer } from '../support/program.ts'
import { openTestStore } from '../support/store.ts'

describeOnEngines('the summary', (engine) => {
  test('is of every plant, whoever created it, and of this moment', async () => {
    await using place = await engine.makePlace()
    await using server = await startServer(place.store)
    const client = await Client.connect(server)
    const summary = async (): Promise<unknown> => {
      const { status, body } = await client.request({ method: 'GET', target: '/summary' })
      assert.equal(status, 200, body)
      return JSON.parse(body)
    }
    assert.deepEqual(await summary(), { plants: 0, tags: [], isExact: true })
    await client.create(9223372036854775807n, 'Ficus lyrata', 'fig')
    await client.create(-1n, 'Olea europaea')
    {
      await using beside = await openTestStore(place.store, { exclusive: false })
      const bulk = await beside.beginImport({ isWhole: true })
      await bulk.add(
        Array.from({ length: 150 }, (_, id) => ({ id: BigInt(id), name: 'a', tag: `t${id}` })),
        'fail',
      )
      const uncommitted = { plants: 2, tags: [{ tag: 'fig', plants: 1 }], isExact: true }
      assert.deepEqual(await summary(), uncommitted)
      await bulk.commit()
      await bulk.end()
    }
    const { plants, tags, isExact } = (await summary()) as { plants: number; tags: unknown[]; isExact: boolean }
    assert.deepEqual([plants, tags.length, isExact], [152, 100, true])
    await client.request({ method: 'DELETE', target: '/plants/-1' })
    assert.equal(((await summary()) as { plants: number }).plants, 151)
  })
})
