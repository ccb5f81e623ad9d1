// Many concurrent clients: one of them wins, and some order of their operations explains the history of each plant.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Connection, countStatuses, isInDoubt, plantJson, type RowRequest } from '../support/client.ts'
import type { HttpResponse } from '../support/conformance.ts'
import { describeOnEngines } from '../support/engines.ts'
import { inRing } from '../support/ring.ts'
import { serveSuite } from '../support/service.ts'
import { isLinearizable, type Operation } from './linearizability.ts'

const clients = 50
const rounds = inRing(1, 5)
const operationsEach = inRing(100, 1_000)

describeOnEngines('races', async (engine) => {
  const { client } = await serveSuite(engine)

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
        headers: { 'Idempotency-Key': `key-${id}` },
      })
      assert.deepEqual(countStatuses(results), { 200: 50 })
      assert.deepEqual(new Set(results.map(({ body }) => body)), new Set(['{"name":"raced","tag":"once"}']))
      assert.equal(results.filter(({ headers }) => !headers.has('idempotency-replayed')).length, 1)
    }
  })

  test("16 clients at once: each plant's history is that of one plant", async () => {
    const ids = Array.from({ length: 12 }, (_, index) => BigInt(index) * 7n - 1_000n)
    const histories = new Map<bigint, Operation<string | undefined>[]>(ids.map((id) => [id, []]))
    const work = Array.from({ length: 16 }, async (_, number) => {
      await using connection = await client.open()
      for (let count = 0; count < operationsEach; count += 1) {
        const id = ids[Math.floor(Math.random() * ids.length)] as bigint
        histories.get(id)?.push(await randomOperation(connection, id, `${number}.${count}`))
      }
    })
    await Promise.all(work)
    for (const [id, history] of histories) {
      assert.ok(history.length > 0 && isLinearizable(history, undefined), `the history of plant ${id} has no order`)
    }
  })
})

test('control: a history in which a change is lost is noticed', () => {
  type Maker = (value: string, calledAt: number, returnedAt: number) => Operation<string | undefined>
  const write: Maker = (next, calledAt, returnedAt) => ({
    ...{ calledAt, returnedAt },
    apply: () => ({ isPossible: true, next }),
  })
  const read: Maker = (value, calledAt, returnedAt) => ({
    ...{ calledAt, returnedAt },
    apply: (next) => ({ isPossible: next === value, next }),
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

/**
 * Does one random thing to a plant and gives it as an operation: what it found must have been there at some moment of
 * it.
 */
async function randomOperation(
  connection: Connection,
  id: bigint,
  value: string,
): Promise<Operation<string | undefined>> {
  const calledAt = performance.now()
  const target = `/plants/${id}`
  const [request, done, refused, next] = (
    [
      [{ body: plantJson(id, value) }, 200, 409, value],
      [{ method: 'PUT', target, body: JSON.stringify({ name: value }) }, 200, 404, value],
      [{ method: 'DELETE', target }, 204, 404, undefined],
      [{ method: 'GET', target }, 200, 404, undefined],
    ] as const
  )[Math.floor(Math.random() * 4)] as Change
  const response = await connection.requestUntilServed(request)
  const returnedAt = performance.now()
  const needs = (state: string | undefined): boolean => (state === undefined) === (request.method === undefined)
  if (isInDoubt(response)) {
    const apply = (state: string | undefined) => ({ isPossible: needs(state), next })
    return { calledAt, returnedAt: Number.POSITIVE_INFINITY, isInDoubt: true, apply }
  }
  assert.ok([done, refused].includes(response.status), response.body)
  const isDone = response.status === done
  if (request.method === 'GET') {
    const found = isDone ? JSON.parse(response.body).name : undefined
    return { calledAt, returnedAt, apply: (state) => ({ isPossible: state === found, next: state }) }
  }
  const apply = (state: string | undefined) => ({ isPossible: needs(state) === isDone, next: isDone ? next : state })
  return { calledAt, returnedAt, apply }
}

/** A request, its status when it is done and when it is not, and what the plant is then called. */
type Change = readonly [request: RowRequest, done: number, refused: number, next: string | undefined]
