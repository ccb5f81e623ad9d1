// Many concurrent clients: some order of their operations explains the history of each plant.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Connection, isInDoubt, plantJson, type RowRequest } from '../support/client.ts'
import { describeOnEngines } from '../support/engines.ts'
import { inRing } from '../support/ring.ts'
import { serveSuite } from '../support/service.ts'

const operationsEach = inRing(50, 1_000)

describeOnEngines('races', async (engine) => {
  const { client } = await serveSuite(engine)

  test("16 clients at once: each plant's history is that of one plant", async () => {
    const ids = Array.from({ length: 12 }, (_, index) => BigInt(index) * 7n - 1_000n)
    const histories = new Map<bigint, Operation[]>(ids.map((id) => [id, []]))
    const work = Array.from({ length: 16 }, async (_, number) => {
      await using connection = await client.open()
      for (let count = 0; count < operationsEach; count += 1) {
        const id = ids[Math.floor(Math.random() * ids.length)] as bigint
        histories.get(id)?.push(await randomOperation(connection, id, `${number}.${count}`))
      }
    })
    await Promise.all(work)
    for (const [id, history] of histories) {
      assert.ok(history.length > 0 && isLinearizable(history), `the history of plant ${id} has no order`)
    }
  })
})

test('control: a history in which a change is lost is noticed', () => {
  const write = (value: string, calledAt: number, returnedAt: number): Operation => ({
    ...{ calledAt, returnedAt, isPossible: () => true, next: () => value },
  })
  const read = (value: string, calledAt: number, returnedAt: number): Operation => ({
    ...{ calledAt, returnedAt, isPossible: (state) => state === value, next: (state) => state },
  })
  assert.ok(isLinearizable([write('a', 0, 1), write('b', 2, 6), read('a', 3, 4), read('b', 5, 7)]))
  assert.ok(!isLinearizable([write('a', 0, 1), write('b', 2, 3), read('a', 4, 5)]))
  assert.ok(!isLinearizable([write('a', 0, 1), write('b', 2, 6), read('b', 3, 4), read('a', 5, 7)]))
  // What nobody knows the outcome of may have been done at any time since, or never.
  const doubtful = { ...write('b', 2, Number.POSITIVE_INFINITY), isInDoubt: true }
  assert.ok(isLinearizable([write('a', 0, 1), doubtful, read('a', 4, 5)]))
  assert.ok(isLinearizable([write('a', 0, 1), doubtful, read('a', 4, 5), read('b', 6, 7)]))
  assert.ok(!isLinearizable([write('a', 0, 1), doubtful, read('b', 4, 5), read('a', 6, 7)]))
  assert.ok(!isLinearizable([read('b', 0, 1), doubtful]))
})

/** Does one random thing to a plant: what it found must have been there at some moment of it. */
async function randomOperation(connection: Connection, id: bigint, value: string): Promise<Operation> {
  const calledAt = performance.now()
  const target = `/plants/${id}`
  const [request, done, refused, name] = (
    [
      [{ body: plantJson(id, value) }, 200, 409, value],
      [{ method: 'PUT', target, body: JSON.stringify({ name: value }) }, 200, 404, value],
      [{ method: 'DELETE', target }, 204, 404, undefined],
      [{ method: 'GET', target }, 200, 404, undefined],
    ] as const
  )[Math.floor(Math.random() * 4)] as Change
  const response = await connection.requestUntilServed(request)
  const returnedAt = performance.now()
  const needs = (state: Name): boolean => (state === undefined) === (request.method === undefined)
  if (isInDoubt(response)) {
    return { calledAt, returnedAt: Number.POSITIVE_INFINITY, isInDoubt: true, isPossible: needs, next: () => name }
  }
  assert.ok([done, refused].includes(response.status), response.body)
  const isDone = response.status === done
  if (request.method === 'GET') {
    const found = isDone ? JSON.parse(response.body).name : undefined
    return { calledAt, returnedAt, isPossible: (state) => state === found, next: (state) => state }
  }
  const next = (state: Name): Name => (isDone ? name : state)
  return { calledAt, returnedAt, isPossible: (state) => needs(state) === isDone, next }
}

/** What a plant is called, if there is one. */
type Name = string | undefined
/** A request, its status when it is done and when it is not, and what the plant is then called. */
type Change = readonly [request: RowRequest, done: number, refused: number, name: Name]

interface Operation {
  readonly calledAt: number
  readonly returnedAt: number
  /** Whether nobody knows if it was done at all; it returned at infinity then. */
  readonly isInDoubt?: boolean
  /** Whether what its caller saw is possible in a state. */
  readonly isPossible: (state: Name) => boolean
  readonly next: (state: Name) => Name
}

/**
 * Whether some order of operations explains them (Herlihy and Wing): each is possible, between its call and its return;
 * one that is in doubt may also have no place.
 */
function isLinearizable(history: readonly Operation[]): boolean {
  const numbers = new Map(history.map((operation, number) => [operation, number]))
  const visited = new Set<string>()
  const search = (left: readonly Operation[], state: Name): boolean => {
    if (left.every(({ isInDoubt }) => isInDoubt)) return true
    const key = `${left.map((operation) => numbers.get(operation))}: ${String(state)}`
    if (visited.has(key)) return false
    visited.add(key)
    const firstReturn = Math.min(...left.map(({ returnedAt }) => returnedAt))
    return left.some((operation) => {
      if (operation.calledAt > firstReturn || !operation.isPossible(state)) return false
      const others = left.filter((other) => other !== operation)
      return search(others, operation.next(state))
    })
  }
  const inOrder = history.toSorted((a, b) => a.calledAt - b.calledAt)
  return search(inOrder, undefined)
}
