// What holds for any input: valid plants are kept exactly, and nothing that comes is answered with a failure of the
// server.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import type { NewPlant } from '../../src/domain/plant.ts'
import { newPlant } from '../store/suite.ts'
import { Client, plantJson } from '../support/client.ts'
import { describeOnEngines } from '../support/engines.ts'
import { startServer } from '../support/program.ts'
import { inRing } from '../support/ring.ts'
import { openTestStore } from '../support/store.ts'

describeOnEngines('any input', async (engine) => {
  const place = await engine.makePlace()
  const { store } = place
  const server = await startServer(store)
  const client = await Client.connect(server)
  const kept = new Map<bigint, Omit<NewPlant, 'id'>>()

  after(async () => {
    await server[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
  })

  test('any valid plant is answered as it was sent', async () => {
    await using connection = await client.open()
    await fc.assert(
      fc.asyncProperty(newPlant, async ({ id, ...plant }) => {
        const response = await connection.requestUntilServed({ body: plantJson(id, plant.name, plant.tag) })
        if (kept.has(id)) {
          assert.equal(response.status, 409, response.body)
          return
        }
        assert.equal(response.status, 200, response.body)
        assert.equal(response.headers.get('location'), `/plants/${id}`)
        assert.deepEqual(JSON.parse(response.body), plant)
        kept.set(id, plant)
      }),
      { numRuns: inRing(100, 1_000) },
    )
  })

  test('no bytes on a connection get a failure of the server or a silence', async () => {
    await fc.assert(
      fc.asyncProperty(anyRequest, async (bytes) => {
        await using connection = await client.open()
        connection.send(bytes)
        connection.finish()
        const [, method = '', target = ''] = /^(?:\r\n)*(\w+) (\S+) HTTP\/1\.1\r\n/.exec(bytes.toString('latin1')) ?? []
        const response = await connection.answerTo(method, target).catch((error) => {
          // A connection that brought nothing but line breaks is closed without an answer.
          assert.match(String(error), /with ""/)
          assert.match(bytes.toString('latin1'), /^[\r\n]*$/)
          return undefined
        })
        if (response !== undefined) assert.ok(response.status < 500 || response.status === 501, response.body)
      }),
      { numRuns: inRing(50, 500) },
    )
  })

  test('the store holds what was kept, exactly', async () => {
    assert.equal(await server.stop(), 0)
    await using opened = await openTestStore(store)
    for (const [id, plant] of kept) assert.deepEqual(await opened.getPlant(id), plant)
  })
})

const anyBytes = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes))

const lines = [
  'POST /plants HTTP/1.1',
  'GET /livez HTTP/1.1',
  'Host: a',
  'Content-Length: 5',
  'Transfer-Encoding: chunked',
  'Expect: 100-continue',
  'Connection: upgrade',
  'Upgrade: h2c',
  ':',
  ' x',
  '',
  '0',
  'abc',
]
const anyRequest = fc.oneof(
  anyBytes.filter((bytes) => bytes.length > 0),
  fc
    .array(fc.constantFrom(...lines), { minLength: 1, maxLength: 8 })
    .map((parts) => Buffer.from(`${parts.join('\r\n')}\r\n`)),
)
