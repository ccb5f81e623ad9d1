// 50 clients want the same thing at the same moment.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Client, countStatuses, plantJson, type RowRequest } from '../support/client.ts'
import type { HttpResponse } from '../support/conformance.ts'
import { describeOnBothEngines } from '../support/engines.ts'
import { inRing } from '../support/ring.ts'
import { serveHere } from '../support/service.ts'

const clients = 50
const rounds = inRing(1, 5)

describeOnBothEngines('races', async (engine) => {
  const place = await engine.makePlace()
  const server = await serveHere(place.store)
  const client = await Client.connect(server)

  after(async () => {
    await server[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
  })

  /** What is refused for the time being is sent again. */
  const race = async (parts: RowRequest): Promise<readonly HttpResponse[]> => {
    const connections = await Promise.all(Array.from({ length: clients }, () => client.open()))
    const answers = await Promise.all(connections.map((connection) => connection.requestUntilServed(parts)))
    for (const connection of connections) await connection[Symbol.asyncDispose]()
    return answers
  }

  test('one id: one 200, 49 times 409', async () => {
    for (let id = 0n; id < rounds; id += 1n) {
      const results = await race({ body: plantJson(id, 'raced') })
      assert.deepEqual(countStatuses(results), { 200: 1, 409: 49 })
    }
  })

  test('one Idempotency-Key: one create, 50 times the same 200', async () => {
    for (let id = 100n; id < 100 + rounds; id += 1n) {
      const results = await race({
        body: plantJson(id, 'raced', 'once'),
        headers: { 'Idempotency-Key': `key ${id}`.replace(' ', '-') },
      })
      assert.deepEqual(countStatuses(results), { 200: 50 })
      assert.deepEqual(new Set(results.map(({ body }) => body)), new Set(['{"name":"raced","tag":"once"}']))
      assert.equal(results.filter(({ headers }) => !headers.has('idempotency-replayed')).length, 1)
    }
  })
})
