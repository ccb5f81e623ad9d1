// The client with plants of a user's document: every property, exact, at any depth.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Change, type Plant, PlantStoreClient, type Tagged } from '../../client/client.ts'
import { toJson } from '../../src/contract/plant.ts'
import { decodeJson } from '../../src/json/decode.ts'
import { startAnswering } from '../support/answering.ts'

interface Tree {
  readonly id: bigint
  readonly name: string
  readonly height: number | bigint
  readonly rings?: readonly { readonly year: number | bigint; readonly note: string | null }[]
}

const beyond = 2n ** 53n + 1n
const oak: Tree = {
  id: beyond,
  name: '"id": 9007199254740995, "height":9007199254740995',
  height: 2n ** 63n - 1n,
  rings: [
    { year: -beyond, note: null },
    { year: 7, note: '9007199254740993' },
  ],
}

/** A server with one plant, which it answers in reverse. With `loseNext` it cuts the connection after a change. */
async function startStore() {
  const bodies: string[] = []
  let kept: readonly (readonly [name: string, value: unknown])[] = []
  let version = 0
  const { url, ...server } = await startAnswering(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    if (body.length > 0) bodies.push(body.toString())
    const plant = (): string => toJson(Object.fromEntries([...kept, ['id', oak.id]]))
    const condition = request.headers['if-match']
    response.setHeader('content-type', 'application/json').setHeader('etag', `"${version}"`)
    if (condition !== undefined && condition !== `"${version}"`) {
      return response.writeHead(412).end('{"error":41201,"message":"changed"}')
    }
    if (body.length > 0) {
      version += 1
      kept = Object.entries(decodeJson(body, 32) as object)
        .filter(([name]) => name !== 'id')
        .toReversed()
      if (store.loseNext) {
        store.loseNext = false
        return request.socket.destroy()
      }
      return response.setHeader('etag', `"${version}"`).end(toJson(Object.fromEntries(kept)))
    }
    if (request.url?.startsWith('/plants?')) return response.end(`[${plant()}]`)
    if (request.url?.startsWith('/changes')) {
      return response.end(`[{"position":"1","kind":"created","plant":${plant()}}]`)
    }
    return response.end(plant())
  })
  const store = { ...server, client: new PlantStoreClient<Tree>({ url }), bodies, loseNext: false }
  return store
}

describe('the client of a store with another document', () => {
  test('sends, reads, lists and replaces every property, with each integer exact', async () => {
    await using store = await startStore()
    const { id, ...properties } = oak
    assert.deepEqual(await store.client.createPlant(oak), properties)
    assert.match(store.bodies[0] ?? '', /^\{"id":9007199254740993,"name":.*,"height":9223372036854775807,"rings":/)
    const read: Tagged<Plant<Tree>> = await store.client.getPlant(id)
    assert.deepEqual(read, { ...oak, etag: '"1"' })
    assert.deepEqual(await Array.fromAsync(store.client.listPlants()), [oak])
    const [change]: Change<Tree>[] = await Array.fromAsync(store.client.listChanges({ after: 'now' }))
    assert.deepEqual(change?.plant, oak)
    const grown = await store.client.replacePlant(id, { ...read, height: 3 }, { ifMatch: read })
    assert.deepEqual(grown, { ...properties, height: 3, etag: '"2"' })
    assert.doesNotMatch(store.bodies[1] ?? '', /"etag"|"id":9007199254740993/)
    const odd = { name: 'odd', toJSON: beyond, rings: [{ z: 1, a: beyond }] }
    await store.client.replacePlant(id, { ...odd, height: 1 } as unknown as Tree)
    const expected = '{"name":"odd","toJSON":9007199254740993,"rings":[{"z":1,"a":9007199254740993}],"height":1}'
    assert.equal(store.bodies[2], expected)
  })

  test('knows its own change after a lost answer by all properties, and no other one', async () => {
    const { id, ...properties } = oak
    const replaceAndLose = async (sent: Omit<Tree, 'id'>, later?: Omit<Tree, 'id'>): Promise<unknown> => {
      await using store = await startStore()
      await store.client.createPlant({ ...oak, name: 'acorn' })
      const read = await store.client.getPlant(id)
      store.loseNext = true
      const other = new PlantStoreClient<Tree>({ url: store.client.url })
      const send: typeof fetch = async (...request) => {
        const response = await fetch(...request).catch((error: unknown) => error)
        if (response instanceof Response) return response
        if (later !== undefined) await other.replacePlant(id, later)
        throw response
      }
      const client = new PlantStoreClient<Tree>({ url: store.client.url, fetch: send })
      return await client.replacePlant(id, sent, { ifMatch: read })
    }
    assert.deepEqual(await replaceAndLose(properties), { ...properties, etag: '"2"' })
    const asRead = { ...oak, etag: '"0"' }
    assert.deepEqual(await replaceAndLose(asRead, properties), { ...properties, etag: '"3"' })
    for (const other of [
      { ...properties, height: 2n ** 63n - 2n },
      { ...properties, rings: oak.rings?.toReversed() ?? [] },
      { ...properties, rings: oak.rings?.map(({ year }) => ({ year, note: '' })) ?? [] },
      { name: oak.name, height: oak.height },
    ])
      await assert.rejects(replaceAndLose(properties, other), { status: 412, mayBeDone: true })
  })
})
