// The service against a plain model of it: random sequences one after the other, and many clients at once whose
// histories have to be explained, plant by plant, by some order of what they did.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { foldName, int64Max, int64Min, type NewPlant, type Plant, revisionOf } from '../../src/domain/plant.ts'
import { decodeJson } from '../../src/json/decode.ts'
import { Client, type Connection, plantJson } from '../support/client.ts'
import type { HttpResponse } from '../support/conformance.ts'
import { describeOnEngines } from '../support/engines.ts'
import { isLinearizable, type Operation } from '../support/linearizability.ts'
import { startServer } from '../support/program.ts'

const sequences = 1_000
const clients = 16
const operationsEach = 1_300

/** What the service is, without any of how. */
class Model {
  readonly plants = new Map<bigint, Plant>()
  readonly keys = new Map<string, NewPlant>()

  list(after: bigint | undefined, tag: string | undefined, prefix: string | undefined): NewPlant[] {
    return [...this.plants]
      .map(([id, plant]) => ({ id, ...plant }))
      .filter(({ id }) => after === undefined || id > after)
      .filter((plant) => tag === undefined || plant.tag === tag)
      .filter(({ name }) => prefix === undefined || foldName(name).startsWith(foldName(prefix)))
      .sort((a, b) => (a.id < b.id ? -1 : 1))
  }
}

type Step = (model: Model, service: Service) => Promise<void>

class Service {
  readonly #connection: Connection
  /** Keys must be new in each sequence, as the service remembers those of the ones before. */
  readonly keyPrefix: string

  constructor(connection: Connection, keyPrefix: string) {
    this.#connection = connection
    this.keyPrefix = keyPrefix
  }

  send(method: string, target: string, body?: string, headers: Record<string, string> = {}): Promise<HttpResponse> {
    return this.#connection.request({ method, target, headers, ...(body !== undefined && { body }) })
  }
}

const id = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt({ min: -3n, max: 3n }) },
  { weight: 1, arbitrary: fc.constantFrom(int64Min, int64Max, 2n ** 53n + 1n) },
  { weight: 1, arbitrary: fc.bigInt({ min: int64Min, max: int64Max }) },
)
const name = fc.constantFrom('Ficus', 'FICUS elastica', 'Fi', 'Φίκος', '', '🌿', 'monstera')
const tag = fc.option(fc.constantFrom('', 'fig', 'a&b=c'), { nil: undefined })
const plant = fc.record({ name, tag }).map(({ name, tag }): Plant => (tag === undefined ? { name } : { name, tag }))
const matches = ['none', 'current', 'stale', 'any', 'notCurrent', 'notStale', 'notAny'] as const
type Match = (typeof matches)[number]
const match = fc.constantFrom(...matches)

const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(id, plant, fc.option(fc.constantFrom('k1', 'k2'))).map(([id, plant, key]) => createStep(id, plant, key)),
  fc.tuple(id, plant, match).map(([id, plant, match]) => changeStep(id, plant, match)),
  fc.tuple(id, match).map(([id, match]) => changeStep(id, undefined, match)),
  id.map(getStep),
  fc
    .tuple(fc.option(id, { nil: undefined }), tag, fc.option(name, { nil: undefined }), fc.integer({ min: 1, max: 4 }))
    .map(([after, tag, prefix, limit]) => listStep(after, tag, prefix, limit)),
)

function createStep(id: bigint, plant: Plant, key: string | null): Step {
  return async (model, service) => {
    const headers = key === null ? {} : { 'Idempotency-Key': service.keyPrefix + key }
    const response = await service.send('POST', '/plants', plantJson(id, plant.name, plant.tag), headers)
    const earlier = key === null ? undefined : model.keys.get(key)
    if (earlier !== undefined) {
      const isSame = revisionOf(earlier) === revisionOf({ id, ...plant })
      assert.equal(response.status, isSame ? 200 : 422)
      assert.equal(response.headers.get('idempotency-replayed'), isSame ? 'true' : undefined)
      return
    }
    assert.equal(response.status, model.plants.has(id) ? 409 : 200)
    if (response.status !== 200) return
    assert.deepEqual(JSON.parse(response.body), plant)
    model.plants.set(id, plant)
    if (key !== null) model.keys.set(key, { id, ...plant })
  }
}

/** Replaces a plant, or deletes it when no other is given. */
function changeStep(id: bigint, plant: Plant | undefined, match: Match): Step {
  const unmet: readonly Match[] = ['stale', 'notCurrent', 'notAny']
  return async (model, service) => {
    const current = model.plants.get(id)
    const currentTag = current === undefined ? '"none"' : `"${revisionOf({ id, ...current })}"`
    const headers = {
      none: {},
      current: { 'If-Match': currentTag },
      stale: { 'If-Match': '"stale"' },
      any: { 'If-Match': '*' },
      notCurrent: { 'If-None-Match': currentTag },
      notStale: { 'If-None-Match': '"stale"' },
      notAny: { 'If-None-Match': '*' },
    }[match]
    const body = plant && JSON.stringify(plant)
    const { status } = await service.send(plant ? 'PUT' : 'DELETE', `/plants/${id}`, body, headers)
    const done = plant ? 200 : 204
    assert.equal(status, current === undefined ? 404 : unmet.includes(match) ? 412 : done)
    if (status !== done) return
    if (plant === undefined) model.plants.delete(id)
    else model.plants.set(id, plant)
  }
}

function getStep(id: bigint): Step {
  return async (model, service) => {
    const { status, body, headers } = await service.send('GET', `/plants/${id}`)
    const expected = model.plants.get(id)
    assert.equal(status, expected === undefined ? 404 : 200)
    if (expected === undefined) return
    assert.deepEqual(decodeJson(Buffer.from(body), 4), { id, ...expected })
    assert.equal(headers.get('etag'), `"${revisionOf({ id, ...expected })}"`)
  }
}

function listStep(after: bigint | undefined, tag: string | undefined, prefix: string | undefined, limit: number): Step {
  return async (model, service) => {
    const parameters = { limit, after, tag, name: prefix }
    const texts = Object.entries(parameters).filter(([, value]) => value !== undefined)
    let target: string | undefined =
      `/plants?${texts.map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`).join('&')}`
    const seen: unknown[] = []
    while (target !== undefined) {
      const response: HttpResponse = await service.send('GET', target)
      const page = decodeJson(Buffer.from(response.body), 4) as unknown[]
      assert.ok(page.length <= limit)
      seen.push(...page)
      target = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1]
    }
    assert.deepEqual(seen, model.list(after, tag, prefix))
  }
}

describeOnEngines('the service and its model', async (engine) => {
  const place = await engine.makePlace()
  const server = await startServer(place.store)
  const client = await Client.connect(server)

  after(async () => {
    await server[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
  })

  test(`${sequences} random sequences give what the model gives`, async () => {
    await using connection = await client.open()
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { maxLength: 20 }), async (sequence) => {
        const model = new Model()
        run += 1
        const service = new Service(connection, `run-${run}-`)
        try {
          for (const step of sequence) await step(model, service)
          await listStep(undefined, undefined, undefined, 1_000)(model, service)
        } finally {
          await clear(service)
        }
      }),
      { numRuns: sequences },
    )
  })

  test(`${clients} clients at once: each plant's history is that of one plant`, async (context) => {
    const ids = Array.from({ length: 12 }, (_, index) => BigInt(index) * 7n - 40n)
    const histories = new Map<bigint, Operation<string | undefined>[]>(ids.map((id) => [id, []]))
    const work = Array.from({ length: clients }, async (_, number) => {
      await using connection = await client.open()
      const service = new Service(connection, '')
      for (let count = 0; count < operationsEach; count += 1) {
        const id = ids[Math.floor(Math.random() * ids.length)] as bigint
        histories.get(id)?.push(await randomOperation(service, id, `${number}.${count}`))
      }
    })
    await Promise.all(work)
    let total = 0
    for (const [id, history] of histories) {
      total += history.length
      assert.ok(isLinearizable(history, undefined), `the history of plant ${id} has no order`)
    }
    assert.ok(total >= 20_000)
    context.diagnostic(`${total} operations, 0 violations`)
  })

  test('control: a history in which a change is lost is noticed', () => {
    const write = (value: string, calledAt: number, returnedAt: number): Operation<string | undefined> => ({
      calledAt,
      returnedAt,
      apply: () => ({ isPossible: true, next: value }),
    })
    const read = (value: string, calledAt: number, returnedAt: number): Operation<string | undefined> => ({
      calledAt,
      returnedAt,
      apply: (state) => ({ isPossible: state === value, next: state }),
    })
    assert.ok(isLinearizable([write('a', 0, 1), write('b', 2, 6), read('a', 3, 4), read('b', 5, 7)], undefined))
    assert.ok(!isLinearizable([write('a', 0, 1), write('b', 2, 3), read('a', 4, 5)], undefined))
    assert.ok(!isLinearizable([write('a', 0, 1), write('b', 2, 6), read('b', 3, 4), read('a', 5, 7)], undefined))
  })
})

/** Does one random thing to a plant and gives it as an operation: what it found must have been there at some moment of it. */
async function randomOperation(service: Service, id: bigint, value: string): Promise<Operation<string | undefined>> {
  const kind = Math.floor(Math.random() * 4)
  const calledAt = performance.now()
  const ended = (apply: Operation<string | undefined>['apply']): Operation<string | undefined> => ({
    calledAt,
    returnedAt: performance.now(),
    apply,
  })
  const body = JSON.stringify({ name: value })
  switch (kind) {
    case 0: {
      const { status } = await service.send('POST', '/plants', plantJson(id, value))
      return ended((state) => ({
        isPossible: (state === undefined) === (status === 200),
        next: status === 200 ? value : state,
      }))
    }
    case 1: {
      const { status } = await service.send('PUT', `/plants/${id}`, body)
      return ended((state) => ({
        isPossible: (state !== undefined) === (status === 200),
        next: status === 200 ? value : state,
      }))
    }
    case 2: {
      const { status } = await service.send('DELETE', `/plants/${id}`)
      return ended((state) => ({ isPossible: (state !== undefined) === (status === 204), next: undefined }))
    }
    default: {
      const response = await service.send('GET', `/plants/${id}`)
      const found = response.status === 200 ? JSON.parse(response.body).name : undefined
      return ended((state) => ({ isPossible: state === found, next: state }))
    }
  }
}

async function clear(service: Service): Promise<void> {
  const { body } = await service.send('GET', '/plants?limit=1000')
  for (const { id } of decodeJson(Buffer.from(body), 4) as { id: bigint }[])
    await service.send('DELETE', `/plants/${id}`)
}
