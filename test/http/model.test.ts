// The service against a plain model of it: random sequences one after the other, and many clients at once whose
// histories have to be explained, plant by plant, by some order of what they did.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { foldName, int64Max, int64Min, revisionOf } from '../../src/domain/plant.ts'
import { decodeJson } from '../../src/json/decode.ts'
import type { NewPlant, Plant } from '../../verify/plant.ts'
import { Client, type Connection, isInDoubt, plantJson } from '../support/client.ts'
import type { HttpResponse } from '../support/conformance.ts'
import { describeOnEngines } from '../support/engines.ts'
import { toPlant } from '../support/plants.ts'
import { inRing } from '../support/ring.ts'
import { serveHere } from '../support/service.ts'
import { isLinearizable, type Operation } from './linearizability.ts'

const sequences = inRing(15, 300)
const clients = 16
const operationsEach = inRing(100, 1_000)

const revisionFor = (plant: NewPlant): string => revisionOf(toPlant({ ...plant }).json)

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

  /** Gives the response once the service is not too busy for the request. */
  send(method: string, target: string, body?: string, headers: Record<string, string> = {}): Promise<HttpResponse> {
    return this.#connection.requestUntilServed({ method, target, headers, ...(body !== undefined && { body }) })
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
      const isSame = revisionFor(earlier) === revisionFor({ id, ...plant })
      assertStatus(response, isSame ? 200 : 422)
      assert.equal(response.headers.get('idempotency-replayed'), isSame ? 'true' : undefined)
      return
    }
    assertStatus(response, model.plants.has(id) ? 409 : 200)
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
    const currentTag = current === undefined ? '"none"' : `"${revisionFor({ id, ...current })}"`
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
    const response = await service.send(plant ? 'PUT' : 'DELETE', `/plants/${id}`, body, headers)
    const done = plant ? 200 : 204
    assertStatus(response, current === undefined ? 404 : unmet.includes(match) ? 412 : done)
    if (response.status !== done) return
    if (plant === undefined) model.plants.delete(id)
    else model.plants.set(id, plant)
  }
}

function getStep(id: bigint): Step {
  return async (model, service) => {
    const response = await service.send('GET', `/plants/${id}`)
    const expected = model.plants.get(id)
    assertStatus(response, expected === undefined ? 404 : 200)
    if (expected === undefined) return
    assert.deepEqual(decodeJson(Buffer.from(response.body), 4), { id, ...expected })
    assert.equal(response.headers.get('etag'), `"${revisionFor({ id, ...expected })}"`)
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
      assertStatus(response, 200)
      const page = decodeJson(Buffer.from(response.body), 4) as unknown[]
      assert.ok(page.length <= limit)
      seen.push(...page)
      target = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1]
    }
    assert.deepEqual(seen, model.list(after, tag, prefix))
  }
}

function assertStatus({ status, body }: HttpResponse, ...expected: readonly number[]): void {
  assert.ok(expected.includes(status), `${expected.join(' or ')} was expected, got ${status} ${body}`)
}

describeOnEngines('the service and its model', async (engine) => {
  const place = await engine.makePlace()
  const server = await serveHere(place.store)
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
    assert.equal(total, clients * operationsEach)
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
    // What nobody knows the outcome of may have been done at any time since, or never.
    const doubtful = { ...write('b', 2, Number.POSITIVE_INFINITY), isInDoubt: true }
    assert.ok(isLinearizable([write('a', 0, 1), doubtful, read('a', 4, 5)], undefined))
    assert.ok(isLinearizable([write('a', 0, 1), doubtful, read('a', 4, 5), read('b', 6, 7)], undefined))
    assert.ok(!isLinearizable([write('a', 0, 1), doubtful, read('b', 4, 5), read('a', 6, 7)], undefined))
    assert.ok(!isLinearizable([read('b', 0, 1), doubtful], undefined))
  })
})

/**
 * Does one random thing to a plant and gives it as an operation: what it found must have been there at some moment of
 * it.
 */
async function randomOperation(service: Service, id: bigint, value: string): Promise<Operation<string | undefined>> {
  const calledAt = performance.now()
  const [method, target, body, done, refused, next] = (
    [
      ['POST', '/plants', plantJson(id, value), 200, 409, value],
      ['PUT', `/plants/${id}`, JSON.stringify({ name: value }), 200, 404, value],
      ['DELETE', `/plants/${id}`, undefined, 204, 404, undefined],
      ['GET', `/plants/${id}`, undefined, 200, 404, undefined],
    ] as const
  )[Math.floor(Math.random() * 4)] as Change
  const response = await service.send(method, target, body)
  const returnedAt = performance.now()
  const needs = (state: string | undefined): boolean => (state === undefined) === (method === 'POST')
  if (isInDoubt(response)) {
    const apply = (state: string | undefined) => ({ isPossible: needs(state), next })
    return { calledAt, returnedAt: Number.POSITIVE_INFINITY, isInDoubt: true, apply }
  }
  assertStatus(response, done, refused)
  const isDone = response.status === done
  if (method === 'GET') {
    const found = isDone ? JSON.parse(response.body).name : undefined
    return { calledAt, returnedAt, apply: (state) => ({ isPossible: state === found, next: state }) }
  }
  const apply = (state: string | undefined) => ({ isPossible: needs(state) === isDone, next: isDone ? next : state })
  return { calledAt, returnedAt, apply }
}

/** Method, target, body, status when it is done and when it is not, and what the plant is then called. */
type Change = readonly [string, string, string | undefined, number, number, string | undefined]

async function clear(service: Service): Promise<void> {
  const { body } = await service.send('GET', '/plants?limit=1000')
  for (const { id } of decodeJson(Buffer.from(body), 4) as { id: bigint }[])
    await service.send('DELETE', `/plants/${id}`)
}
