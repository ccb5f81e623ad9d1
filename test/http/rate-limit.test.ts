// `--rate-limit`: what each caller may ask for, counted by work, on both ways that a request can go.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createToken } from '../../src/cli/token.ts'
import { networkOf, RateLimiter, unitsOf } from '../../src/http/rate-limit.ts'
import { plantJson, type RequestParts } from '../support/client.ts'
import { runHere } from '../support/program.ts'
import { type Service, startService } from '../support/service.ts'
import { openTestStore } from '../support/store.ts'

/** A limiter on a clock of its own. */
function limiterOf(units: number, seconds: number, rateLimitedCallersMax = 100) {
  let nowMs = 1_000
  const clock = { monotonicMs: () => nowMs, wallMs: () => nowMs }
  const limiter = new RateLimiter({ units, seconds }, clock, { rateLimitedCallersMax })
  return {
    wait: (ms: number): void => {
      nowMs += ms
    },
    /** The units of some takes that are let through. */
    take: (count: number, units: number, caller = 'a'): number => {
      let done = 0
      for (let each = 0; each < count; each += 1) {
        try {
          limiter.take(caller, units)
          done += 1
        } catch {}
      }
      return done
    },
    refusal: (units: number, caller = 'a'): Readonly<Record<string, string>> | undefined => {
      try {
        limiter.take(caller, units)
      } catch (error) {
        return (error as { fields: Readonly<Record<string, string>> }).fields
      }
      return undefined
    },
  }
}

describe('a rate limit', () => {
  test('lets as many units through at once, and then as many as time makes up for', () => {
    const { take, wait } = limiterOf(10, 1)
    assert.equal(take(25, 1), 10)
    wait(100)
    assert.equal(take(5, 1), 1)
    wait(450)
    assert.equal(take(10, 1), 4)
    wait(60_000)
    assert.equal(take(25, 1), 10, 'what was not used is not kept')
  })

  test('lets no more through in the long run, however they come', () => {
    const { take, wait } = limiterOf(100, 60)
    let done = 0
    for (let second = 0; second < 600; second += 1) {
      done += take(7, 1)
      wait(1_000)
    }
    assert.ok(done <= 100 + 1_000 && done >= 1_000, String(done))
  })

  test('counts each caller by itself', () => {
    const { take } = limiterOf(3, 1)
    assert.deepEqual([take(5, 1, 'a'), take(5, 1, 'b')], [3, 3])
  })

  test('lets what costs more than all of it through when nothing else counts', () => {
    const { take, wait } = limiterOf(10, 1)
    assert.equal(take(2, 25), 1)
    wait(1_500)
    assert.equal(take(1, 1), 0, 'the rest is made up for')
    wait(1_001)
    assert.equal(take(1, 25), 1)
  })

  test('says how long to wait, and that is enough', () => {
    for (const [units, seconds] of [
      [1, 1],
      [10, 60],
      [7, 3_600],
      [1_000_000, 1],
    ] as const) {
      const { take, wait, refusal } = limiterOf(units, seconds)
      take(units, 1)
      const fields = refusal(1)
      const [, left, waitSeconds] = /^"default";r=(\d+);t=(\d+)$/.exec(fields?.['ratelimit'] ?? '') ?? []
      assert.equal(left, '0')
      assert.equal(fields?.['retry-after'], waitSeconds)
      assert.equal(fields?.['ratelimit-policy'], `"default";q=${units};w=${seconds}`)
      wait(Number(waitSeconds) * 1_000)
      assert.equal(refusal(1), undefined)
    }
  })

  test('remembers a bounded number of callers, of more those that have used most', () => {
    const { take } = limiterOf(2, 3_600, 100)
    take(2, 1, 'refused')
    for (let caller = 0; caller < 1_000; caller += 1) take(1, 1, String(caller))
    assert.equal(take(1, 1, 'refused'), 0, 'remembered')
    assert.equal(take(2, 1, '0'), 2, 'forgotten')
    assert.equal(take(2, 1, '999'), 1, 'remembered')
  })

  test('forgets half of the callers where all have used the same', () => {
    const { take } = limiterOf(1, 3_600, 100)
    for (let caller = 0; caller < 101; caller += 1) take(1, 1, String(caller))
    assert.deepEqual(
      ['49', '50', '100'].map((caller) => take(1, 1, caller)),
      [1, 0, 0],
    )
  })
})

test('a request costs as many units as it is work', () => {
  assert.equal(unitsOf('getPlant', {}), 1)
  assert.equal(unitsOf('listPlants', { limit: 1 }), 1)
  assert.equal(unitsOf('listPlants', { limit: 1_000 }), 21)
  assert.equal(unitsOf('listPlants', { limit: 1_000, name: 'a' }), 40)
  assert.ok(unitsOf('getSummary', {}) > 1)
})

test('addresses of one customer count for one', () => {
  assert.equal(networkOf('192.0.2.7'), '192.0.2.7')
  assert.equal(networkOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2')
  assert.equal(networkOf('2001:db8::6'), '2001:db8:0:0')
  assert.equal(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:2:ffff::'))
  assert.equal(networkOf('::1'), '0:0:0:0')
  assert.equal(networkOf(undefined), 'unix')
})

describe('--rate-limit', () => {
  async function otherToken(service: Service): Promise<string> {
    await using store = await openTestStore(service.path, { exclusive: false })
    return (await createToken(store, { name: 'other', scopes: ['plants:read', 'plants:write'] })).secret
  }

  /** The statuses of some requests on one connection. */
  async function statuses(service: Service, parts: (index: number) => RequestParts, count: number): Promise<number[]> {
    await using connection = await service.client.open()
    const seen: number[] = []
    for (let index = 0; index < count; index += 1) seen.push((await connection.request(parts(index))).status)
    return seen
  }

  test('refuses what is too much with 429, and nothing is done', async () => {
    await using service = await startService({}, { rateLimit: '5/1h' })
    const seen = await statuses(service, (index) => ({ body: plantJson(BigInt(index), 'Aloe') }), 8)
    assert.deepEqual(seen, [200, 200, 200, 200, 200, 429, 429, 429])
    const other = { Authorization: `Bearer ${await otherToken(service)}` }
    const missing = await service.client.request({ method: 'GET', target: '/plants/5', headers: other })
    assert.equal(missing.status, 404, 'the refused one was not created, and another token may ask')
    const refused = await service.client.request({ method: 'GET', target: '/plants/1' })
    assert.equal(refused.status, 429)
    assert.equal(JSON.parse(refused.body).error, 42901)
    assert.match(refused.headers.get('ratelimit') ?? '', /^"default";r=0;t=7\d\d$/)
    assert.equal(refused.headers.get('ratelimit-policy'), '"default";q=5;w=3600')
    assert.ok(Number(refused.headers.get('retry-after')) > 700)
  })

  test('counts a page by its plants', async () => {
    await using service = await startService({}, { rateLimit: '22/1h' })
    const page: RequestParts = { method: 'GET', target: '/plants?limit=1000' }
    assert.deepEqual(await statuses(service, () => page, 2), [200, 429])
    const get: RequestParts = { method: 'GET', target: '/plants/1' }
    assert.deepEqual(await statuses(service, () => get, 2), [404, 429])
  })

  test('lets a client that waits as long as it is told go on', async () => {
    await using service = await startService({}, { rateLimit: '3/1s' })
    for (let round = 0; round < 2; round += 1) {
      const get: RequestParts = { method: 'GET', target: '/plants/1' }
      let refused = await service.client.request(get)
      while (refused.status === 404) refused = await service.client.request(get)
      assert.equal(refused.status, 429)
      await sleep(Number(refused.headers.get('retry-after')) * 1_000)
      assert.equal((await service.client.request(get)).status, 404)
    }
  })

  test('counts invalid requests, wrong tokens and pages for all', async () => {
    await using service = await startService({}, { rateLimit: '5/1h' })
    const invalid = await statuses(service, () => ({ body: '{' }), 6)
    assert.deepEqual(invalid, [400, 400, 400, 400, 400, 429])
    // An address, which is another caller than the token that was used from it; the client has read the document.
    const wrong: RequestParts = { method: 'GET', target: '/plants/1', headers: { Authorization: 'Bearer plt_wrong' } }
    assert.deepEqual(await statuses(service, () => wrong, 3), [401, 401, 401])
    const unknown = `plt_${'0'.repeat(43)}0d9tS6`
    const page: RequestParts = { method: 'GET', target: '/docs', headers: { Authorization: `Bearer ${unknown}` } }
    assert.deepEqual(await statuses(service, () => page, 2), [200, 429])
    assert.deepEqual(await statuses(service, () => wrong, 1), [429])
    const health: RequestParts = { method: 'GET', target: '/readyz' }
    assert.deepEqual(await statuses(service, () => health, 6), [200, 200, 200, 200, 200, 200])
  })

  test('counts clients behind a proxy that is trusted by their own addresses', async () => {
    await using service = await startService({}, { rateLimit: '2/1h', trustProxy: 'loopback' })
    const from = (address: string): RequestParts => ({
      ...{ method: 'GET', target: '/docs', headers: { 'X-Forwarded-For': address } },
    })
    assert.deepEqual(await statuses(service, () => from('203.0.113.1'), 3), [200, 200, 429])
    assert.deepEqual(await statuses(service, () => from('203.0.113.2'), 3), [200, 200, 429])
    assert.deepEqual(await statuses(service, (index) => from(`2001:db8:1:1::${index}`), 3), [200, 200, 429])
  })

  test('must be units and a time', async () => {
    for (const text of ['100', '0/1s', '1/0s', '1/1d', '-1/1s', '1.5/1s', '1/s', '99999999999/1s']) {
      const { status, stderr } = await runHere(['serve', '--rate-limit', text])
      assert.deepEqual([status, /such as 100\/1s, or none/.test(stderr)], [2, true], text)
    }
  })
})
