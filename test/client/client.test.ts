// The client against the real server: every operation, exact ids, errors, preconditions and pages; and its JSON parser on
// hostile input: its time is linear, because no deadline could end it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { PlantStoreClient, PlantStoreError } from '../../client/client.ts'
import { fromJson } from '../../client/exact-json.ts'
import { Conformance } from '../support/conformance.ts'
import { inRing } from '../support/ring.ts'
import { startSuite } from '../support/service.ts'
import { addToken, importBeside } from '../support/store.ts'

const int64Min = -(2n ** 63n)
const int64Max = 2n ** 63n - 1n

/** Whether a call rejected with such a refusal. */
const refusal = (status: number | undefined, message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof PlantStoreError, String(error))
  assert.equal(error.status, status)
  assert.match(error.message, message)
  return true
}

describe('the client', async () => {
  const service = await startSuite()
  const { url } = service
  const client = new PlantStoreClient(service)

  test('has a method for each operation of the document, by its name', async () => {
    const { operations } = await Conformance.fetch(url)
    for (const { id } of operations) assert.equal(typeof Reflect.get(client, id), 'function', id)
  })

  test('calls the operations that are open to all without a token', async () => {
    const stranger = new PlantStoreClient({ url: `${url}/` })
    assert.deepEqual(await stranger.getLivez(), { status: 'ok' })
    assert.deepEqual(await stranger.getReadyz(), { status: 'ok' })
    assert.equal((await stranger.getHome()).links.plants, '/plants')
    assert.match(await stranger.getOpenapiYaml(), /^openapi: 3\.1\.0/)
    assert.equal(JSON.parse(await stranger.getOpenapiJson()).openapi, '3.1.0')
    assert.match(await stranger.getDocs(), /<html/)
    assert.match(await stranger.getSiteFile('style.css'), /\{/)
    await assert.rejects(stranger.getPlant(1), refusal(401, /token/))
  })

  test('keeps every id exact, given as bigint, digits or number', async () => {
    for (const id of [int64Min, int64Max, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 0n]) {
      assert.deepEqual(await client.createPlant({ id, name: `plant ${id}` }), { name: `plant ${id}` })
      const { etag, ...plant } = await client.getPlant(id)
      assert.deepEqual(plant, { id, name: `plant ${id}` })
      assert.match(etag, /^"/)
      assert.equal((await client.getPlant(String(id))).id, id)
    }
    assert.equal((await client.getPlant(0)).id, 0n)
  })

  test('refuses numbers that may have been rounded', async () => {
    for (const id of [2 ** 53, -(2 ** 53), 1.5, Number.NaN]) {
      await assert.rejects(client.createPlant({ id, name: 'n' }), TypeError)
      await assert.rejects(client.getPlant(id), TypeError)
    }
  })

  test('keeps any plant unchanged', async () => {
    // Not the unit `binary` of fast-check, which takes seconds of the processor to begin.
    const character = fc
      .oneof(fc.nat(0xff), fc.nat(0x10ffff))
      .map((point) => String.fromCodePoint(point || 1).toWellFormed())
    const text = (maxLength: number) => fc.string({ unit: character, maxLength })
    const plants = fc.record(
      { id: fc.bigInt({ min: int64Min, max: int64Max }), name: text(40), tag: text(20) },
      { requiredKeys: ['id', 'name'], noNullPrototype: true },
    )
    await fc.assert(
      fc.asyncProperty(plants, async (plant) => {
        await client.deletePlant(plant.id).catch(() => {})
        const { id, ...rest } = plant
        assert.deepEqual(await client.createPlant(plant), rest)
        const { etag, ...found } = await client.getPlant(id)
        assert.deepEqual(found, plant)
        await client.deletePlant(id, { ifMatch: { etag } })
      }),
      { numRuns: inRing(15, 60), examples: [[{ id: 5n, name: '"id": 7, \\"id\\":8', tag: '"id":9' }]] },
    )
  })

  test('rejects with what the server says', async () => {
    await client.createPlant({ id: 100n, name: 'first' })
    const taken = await client.createPlant({ id: 100n, name: 'second' }).catch((error) => error)
    assert.ok(taken instanceof PlantStoreError)
    assert.equal(taken.status, 409)
    assert.equal(taken.error, 40901)
    assert.match(taken.message, /100/)
    assert.match(taken.requestId ?? '', /^[0-9a-z-]+$/)
    assert.equal(taken.retryAfter, undefined)
    await assert.rejects(client.createPlant({ id: 'seven', name: 'n' }), refusal(400, /^id: .*got "seven"/))
    await assert.rejects(client.createPlant({ id: 2n ** 63n, name: 'n' }), refusal(400, /^id: /))
    await assert.rejects(client.createPlant({ id: 101n, name: '\ud800' }), refusal(400, /^name: /))
    await assert.rejects(client.getPlant(404n), refusal(404, /404/))
    await assert.rejects(client.getPlant('../plants'), refusal(404, /./))
    await assert.rejects(client.deletePlant(404n), refusal(404, /404/))
    const { secret } = await addToken(service.path, 'r', ['plants:read'])
    const reader = new PlantStoreClient({ url, token: secret })
    await assert.rejects(reader.createPlant({ id: 102n, name: 'n' }), refusal(403, /plants:write/))
  })

  test('changes a plant only in the state that was read, if that is handed back', async () => {
    await client.createPlant({ id: 200n, name: 'one', tag: 't' })
    const read = await client.getPlant(200n)
    assert.equal(await client.getPlant(200n, { ifNoneMatch: read }), read)
    const replaced = await client.replacePlant(200n, { name: 'two' }, { ifMatch: read })
    assert.deepEqual({ ...replaced, etag: '' }, { name: 'two', etag: '' })
    const again = await client.replacePlant(200n, { ...replaced, tag: 'u' }, { ifMatch: replaced })
    await assert.rejects(client.replacePlant(200n, { name: 'three' }, { ifMatch: read }), refusal(412, /changed/))
    await assert.rejects(client.deletePlant(200n, { ifMatch: read.etag }), refusal(412, /./))
    assert.deepEqual(await client.getPlant(200n, { ifNoneMatch: read }), {
      id: 200n,
      name: 'two',
      tag: 'u',
      etag: again.etag,
    })
    const forgotten = { name: 'two' } as unknown as typeof read
    await assert.rejects(client.replacePlant(200n, { name: 'x' }, { ifMatch: forgotten }), TypeError)
    await client.deletePlant(200n, { ifMatch: again })
    await assert.rejects(client.getPlant(200n), refusal(404, /200/))
  })

  test('takes a key of its caller, under which a plant is created once', async () => {
    const options = { idempotencyKey: 'mine' }
    await client.createPlant({ id: 300n, name: 'n' }, options)
    await client.createPlant({ id: 300n, name: 'n' }, options)
    await assert.rejects(client.createPlant({ id: 300n, name: 'other' }, options), refusal(422, /Idempotency-Key/))
  })
})

describe('lists of the client', async () => {
  const plants = 2_500
  const idOf = (index: number): bigint => 2n ** 53n + BigInt(index)
  const service = await startSuite()
  const client = new PlantStoreClient(service)
  const numbered = Array.from({ length: plants }, (_, index) => ({
    ...{ id: idOf(index), name: `Plant ${index}` },
    ...(index % 250 === 0 && { tag: 'a&b=c' }),
  }))
  await importBeside(service.path, numbered)

  test('go through all plants in the order of their ids, however large the pages are', async () => {
    for (const query of [{}, { limit: 1000 }, { limit: 333 }]) {
      let count = 0
      for await (const { id, name } of client.listPlants(query)) {
        assert.equal(id, idOf(count))
        assert.equal(name, `Plant ${count}`)
        count += 1
      }
      assert.equal(count, plants)
    }
  })

  test('are of a tag, of names with a beginning, and after an id', async () => {
    const tagged = await Array.fromAsync(client.listPlants({ tag: 'a&b=c', limit: 3 }))
    assert.deepEqual(tagged[1], { id: idOf(250), name: 'Plant 250', tag: 'a&b=c' })
    assert.equal(tagged.length, 10)
    assert.equal((await Array.fromAsync(client.listPlants({ name: 'pLANT 99', limit: 5 }))).length, 11)
    const [first] = await Array.fromAsync(client.listPlants({ after: idOf(plants - 2) }))
    assert.equal(first?.id, idOf(plants - 1))
  })

  test('ask for a page when it is needed, and no further', async () => {
    let requests = 0
    const counting: typeof fetch = (...request) => {
      requests += 1
      return fetch(...request)
    }
    const counted = new PlantStoreClient({ url: client.url, token: service.token, fetch: counting })
    const list = counted.listPlants({ limit: 10 })
    assert.equal(requests, 0)
    let count = 0
    for await (const _ of list) if (++count === 15) break
    assert.equal(requests, 2)
    const pages = list.pages()
    const { value } = await pages.next()
    assert.equal(value?.plants.length, 10)
    assert.equal(value?.next, String(idOf(9)))
    assert.equal(requests, 3)
  })

  test('reject when the first page cannot be had', async () => {
    const stranger = new PlantStoreClient({ url: client.url, token: 'plt_nobody' })
    await assert.rejects(Array.fromAsync(stranger.listPlants()), refusal(401, /token/))
    await assert.rejects(Array.fromAsync(client.listPlants({ limit: 0 })), refusal(400, /limit/))
  })
})

describe('the parser of the client', () => {
  test('keeps other integers exactly, as bigints only beyond 2^53', () => {
    const long = '9'.repeat(401)
    const text = `{"a":-9007199254740993,"b":[9007199254740992,9007199254740991],"c":9007199254740993.5,"d":"9007199254740993","e":${long}}`
    const numbers = { a: -9007199254740993n, b: [9007199254740992n, 9007199254740991], c: 9007199254740994 }
    assert.deepEqual(fromJson(text), { ...numbers, d: '9007199254740993', e: Infinity })
    for (const wrong of ['[01]', '[-]', '[1.]', '[--1]', '[00000000000000000001]'])
      assert.throws(() => fromJson(wrong), SyntaxError)
  })

  const parts = ['"', '\\"', '"id": ', '"id":1.', '"\\\n', '{"id":', '[', ' ', '12345678,', '\\']
  for (const part of parts) {
    test(`takes as long as there is text, be it ${JSON.stringify(part)} again and again`, () => {
      for (const beginning of ['', '"', '{"id":']) {
        const text = beginning + part.repeat((size * 2 ** 20) / part.length)
        const tenth = text.slice(0, text.length / 10)
        const linear = 10 * cpuMs(() => tenth.replace(/./gs, (character) => character))
        const own = cpuMs(() => assert.throws(() => fromJson(text), isNonsense))
        // Quadratic time would be a thousand times as much and more.
        assert.ok(own < 20 * Math.max(linear, 10), `${own} ms, a call for each character ${linear} ms`)
      }
    })
  }
})

/** In MiB. */
const size = inRing(0.3, 10)

const cpuMs = (work: () => unknown): number => {
  const before = process.cpuUsage()
  work()
  return process.cpuUsage(before).user / 1_000
}

const isNonsense = (error: unknown): boolean => error instanceof SyntaxError || error instanceof RangeError
