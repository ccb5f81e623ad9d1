// Paging through a large store while others create and delete: what was there all the while is seen once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '../support/client.ts'
import { describeOnEngines } from '../support/engines.ts'
import { startServer } from '../support/program.ts'
import { importPlants, openTestStore } from '../support/store.ts'
import { until } from '../support/time.ts'

const plantsThroughout = 100_000

describeOnEngines('paging', (engine) => {
  test(`${plantsThroughout} plants are each seen once while others come and go`, async () => {
    await using place = await engine.makePlace()
    const path = place.store
    await fill(path)
    await using server = await startServer(path)
    const client = await Client.connect(server)
    const walking = new AbortController()
    let changes = 0
    // Odd ids come and go; the even ones stay.
    const others = Array.from({ length: 4 }, async () => {
      await using connection = await client.open()
      while (!walking.signal.aborted) {
        const id = Math.floor(Math.random() * plantsThroughout) * 2 + 1
        await connection.requestUntilServed({ body: `{"id":${id},"name":"passing"}` })
        if (Math.random() < 0.5) await connection.requestUntilServed({ method: 'DELETE', target: `/plants/${id}` })
        changes += 1
      }
    })
    const seen = new Map<number, number>()
    await using connection = await client.open()
    for (let target: string | undefined = '/plants?limit=1000'; target !== undefined; ) {
      const response = await connection.requestUntilServed({ method: 'GET', target })
      assert.equal(response.status, 200, response.body)
      for (const { id } of JSON.parse(response.body) as { id: number }[]) seen.set(id, (seen.get(id) ?? 0) + 1)
      target = /^<([^>]+)>/.exec(response.headers.get('link') ?? '')?.[1]
      // Between two pages others have their turn.
      const changesBefore = changes
      await until('something else is changed', () => changes > changesBefore)
    }
    walking.abort()
    await Promise.all(others)
    for (let id = 0; id < plantsThroughout * 2; id += 2) assert.equal(seen.get(id), 1, `plant ${id}`)
    assert.ok([...seen.values()].every((times) => times === 1))
    assert.ok(changes >= 100)
  })
})

async function fill(path: string): Promise<void> {
  await using store = await openTestStore(path)
  await importPlants(
    store,
    Array.from({ length: plantsThroughout }, (_, index) => ({ id: BigInt(index * 2), name: 'stays' })),
  )
}
