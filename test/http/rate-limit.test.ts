// `--rate-limit`: the units that each caller may use, and the units that each request costs.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { OperationId } from '../../src/contract/document.ts'
import { AppError } from '../../src/domain/errors.ts'
import { changeTraits } from '../../src/http/changes.ts'
import type { Traits } from '../../src/http/operations.ts'
import { plantTraits } from '../../src/http/plants.ts'
import { networkOf, RateLimiter } from '../../src/http/rate-limit.ts'
import { encodeRequest, plantJson, type RowRequest } from '../support/client.ts'
import { type Service, startService } from '../support/service.ts'
import { addToken } from '../support/store.ts'

/** A limiter on a clock of its own. */
function limiterOf(units: number, seconds: number, rateLimitedCallersMax = 100) {
  let nowMs = 1_000
  const clock = { monotonicMs: () => nowMs, wallMs: () => nowMs }
  const limiter = new RateLimiter({ units, seconds }, clock, { rateLimitedCallersMax })
  const refusal = (units: number, caller = 'a'): Readonly<Record<string, string>> | undefined => {
    try {
      limiter.take(caller, units)
      return undefined
    } catch (error) {
      return (error as { fields: Readonly<Record<string, string>> }).fields
    }
  }
  return {
    wait: (ms: number): void => {
      nowMs += ms
    },
    /** The units of some takes that are let through. */
    take: (count: number, units: number, caller = 'a'): number =>
      Array.from({ length: count }, () => refusal(units, caller)).filter((fields) => fields === undefined).length,
    refusal,
    /** The look-ups of wrong credentials that are let through. */
    guess: async (count: number, isAtOnce = false): Promise<number> => {
      let guesses = 0
      const lookUp = async (): Promise<never> => {
        guesses += 1
        throw new AppError('invalidToken', 'wrong')
      }
      const one = () => limiter.guardLookUp('a', lookUp).catch(() => {})
      if (isAtOnce) await Promise.all(Array.from({ length: count }, one))
      else for (let each = 0; each < count; each += 1) await one()
      return guesses
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

  test('lets as many wrong credentials be looked up after a pause as before', async () => {
    const { guess, wait } = limiterOf(10, 1)
    assert.equal(await guess(25), 10)
    wait(60_000)
    assert.equal(await guess(25), 10)
    wait(60_000)
    assert.equal(await guess(100, true), 100, 'at once, as none has failed yet')
    wait(1_099)
    assert.equal(await guess(1), 0)
    wait(1)
    assert.equal(await guess(25), 1, 'what is owed is at most twice what may be used')
  })

  test('lets what costs more than all of it through when nothing else counts', () => {
    const { take, wait, refusal } = limiterOf(10, 1)
    assert.equal(take(1, 25), 1)
    assert.equal(refusal(25)?.['ratelimit'], '"default";r=0;t=3')
    wait(1_500)
    assert.equal(take(1, 1), 0, 'the rest is made up for')
    wait(1_001)
    assert.equal(take(1, 25), 1)
  })

  test('says how long to wait, and that is enough', () => {
    for (const text of ['1/1', '10/60', '7/3600', '1000000/1']) {
      const [units = 0, seconds = 0] = text.split('/').map(Number)
      const { take, wait, refusal } = limiterOf(units, seconds)
      take(units, 1)
      const { 'retry-after': waitSeconds, ...fields } = refusal(1) ?? {}
      const policy = `"default";q=${units};w=${seconds}`
      assert.deepEqual(fields, { 'ratelimit-policy': policy, ratelimit: `"default";r=0;t=${waitSeconds}` })
      wait(Number(waitSeconds) * 1_000)
      assert.equal(refusal(1), undefined)
    }
  })

  test('says how many units are left for what costs less', () => {
    const { take, wait, refusal } = limiterOf(10, 1)
    take(1, 7)
    assert.equal(refusal(4)?.['ratelimit'], '"default";r=3;t=1')
    wait(250)
    assert.equal(refusal(6)?.['ratelimit'], '"default";r=5;t=1', 'whole ones')
    assert.equal(take(1, 5), 1, 'as many as it says')
  })

  test('remembers a bounded number of callers: of too many half, those that have used most', () => {
    const { take } = limiterOf(2, 3_600, 100)
    take(2, 1, 'refused')
    for (let caller = 0; caller < 100; caller += 1) take(1, 1, String(caller))
    const left = ['refused', '49', '50', '99'].map((caller) => take(2, 1, caller))
    assert.deepEqual(left, [0, 2, 1, 1])
  })
})

test('a request costs units in proportion to its work', () => {
  const traits = { ...plantTraits, ...changeTraits }
  const unitsOf = (operation: keyof typeof traits, query: object): number => {
    const { units } = (traits[operation] ?? {}) as Traits<OperationId>
    return units === undefined || units === 0 ? 1 : units({ query })
  }
  assert.equal(unitsOf('getPlant', {}), 1)
  assert.equal(unitsOf('listPlants', { limit: 1 }), 1)
  assert.equal(unitsOf('listPlants', {}), unitsOf('listPlants', { limit: 100 }), 'as many as come without a limit')
  assert.equal(unitsOf('listPlants', { limit: 1_000 }), 201)
  assert.equal(unitsOf('listPlants', { limit: 1_000, name: 'a' }), 600)
  assert.equal(unitsOf('getSummary', {}), 400)
  assert.equal(unitsOf('listChanges', { limit: 1_000 }), 201)
  for (const change of ['createPlant', 'replacePlant', 'deletePlant'] as const) assert.equal(unitsOf(change, {}), 8)
})

test('addresses of one customer count for one', () => {
  const addresses = ['192.0.2.7', '2001:db8:1:2:3:4:5:6', '2001:db8::6', '2001:db8:1:2:ffff::', '::1', undefined]
  const networks = ['192.0.2.7', '2001:db8:1:2', '2001:db8:0:0', '2001:db8:1:2', '0:0:0:0', 'unix']
  assert.deepEqual(addresses.map(networkOf), networks)
})

describe('--rate-limit', () => {
  const get = (target: string, headers: RowRequest['headers'] = {}): RowRequest => ({ method: 'GET', target, headers })
  const as = (token: string | undefined) => ({ Authorization: token && `Bearer ${token}` })
  const anyone = as(undefined)

  /** The statuses of a request that is sent again and again on one connection. */
  async function statuses(service: Service, count: number, parts: RowRequest | ((index: number) => RowRequest)) {
    await using connection = await service.open()
    const seen: number[] = []
    for (let index = 0; index < count; index += 1) {
      seen.push((await connection.request(typeof parts === 'function' ? parts(index) : parts)).status)
    }
    return seen.join(' ')
  }

  test('rejects requests over the limit with 429, and without effect', async () => {
    await using service = await startService({}, { rateLimit: '40/1h' })
    const seen = await statuses(service, 8, (index) => ({ body: plantJson(BigInt(index), 'Aloe') }))
    assert.equal(seen, '200 200 200 200 200 429 429 429')
    const { secret } = await addToken(service.path, 'reads', ['plants:read'])
    // The refused one was not created, and another token may ask.
    assert.equal(await statuses(service, 1, get('/plants/5', as(secret))), '404')
    const { status, body, headers } = await service.request(get('/plants/1'))
    assert.deepEqual([status, JSON.parse(body).error], [429, 42901])
    assert.match(headers.get('ratelimit') ?? '', /^"default";r=0;t=(90|8\d)$/)
    assert.equal(headers.get('ratelimit-policy'), '"default";q=40;w=3600')
    assert.ok(Number(headers.get('retry-after')) > 80)
  })

  // The client has read the document, which counts for its address.
  test('counts invalid requests by the token, pages and wrong tokens by the address, and health not', async () => {
    await using service = await startService({}, { rateLimit: '5/1h' })
    assert.equal(await statuses(service, 6, { body: '{' }), '400 400 400 400 400 429')
    const wrong = get('/plants/1', as('plt_wrong'))
    assert.equal(await statuses(service, 3, wrong), '401 401 401')
    assert.equal(await statuses(service, 2, get('/docs', as(`plt_${'0'.repeat(43)}0d9tS6`))), '200 429')
    assert.equal(await statuses(service, 1, wrong), '429')
    assert.equal(await statuses(service, 6, get('/readyz')), '200 200 200 200 200 200')
  })

  for (const [method, target, status, lines] of [
    ['GET', '/nowhere', 404, []],
    ['PATCH', '/plants', 405, []],
    ['OPTIONS', '/plants', 204, []],
    ['OPTIONS', '*', 204, []],
    ['GET', '/%ff', 400, []],
    ['GET', '/plants', 400, ['Host: again']],
    ['GET', '/plants', 431, Array<string>(101).fill('a:')],
  ] as const) {
    test(`counts by address what no operation serves: ${status} for ${method} ${target}`, async () => {
      await using service = await startService({}, { rateLimit: '3/1h' })
      const refused: RowRequest = { method, target, headers: anyone, lines }
      for (const wanted of [status, status, 429]) {
        assert.equal((await service.request(refused)).status, wanted)
      }
      assert.equal((await service.request(get('/plants/1'))).status, 404, 'of a token')
    })
  }

  test('closes a connection if the start of the next request is unknown, even with 429', async () => {
    await using service = await startService({}, { rateLimit: '1/1h' })
    await using connection = await service.open()
    connection.send(encodeRequest('', get('/plants#1')))
    const { status, headers } = await connection.answer()
    assert.deepEqual([status, headers.get('connection')], [429, 'close'])
    connection.finish()
    await connection.closed()
  })

  test('does not count the preflights of pages that may call', async () => {
    await using service = await startService({}, { rateLimit: '2/1h', corsOrigin: 'https://garden.example' })
    const preflight = (Origin: string): RowRequest => ({
      ...{ method: 'OPTIONS', target: '/plants/1' },
      headers: { ...anyone, Origin, 'Access-Control-Request-Method': 'PUT' },
    })
    assert.equal(await statuses(service, 4, preflight('https://garden.example')), '204 204 204 204')
    assert.equal(await statuses(service, 2, preflight('https://evil.example')), '204 429')
  })

  test('counts what a token may not do, and bodies that are refused unread, by the token', async () => {
    await using service = await startService({}, { rateLimit: '2/1h' })
    const { secret } = await addToken(service.path, 'reads', ['plants:read'])
    assert.equal(await statuses(service, 3, { ...get('/plants/1', as(secret)), method: 'DELETE' }), '403 403 429')
    const typed = { body: '{}', headers: { 'Content-Type': 'text/plain' } }
    assert.equal(await statuses(service, 3, typed), '415 415 429')
    assert.equal(await statuses(service, 2, get('/docs', anyone)), '200 429')
  })

  test('counts clients behind a proxy that is trusted by their own addresses', async () => {
    await using service = await startService({}, { rateLimit: '2/1h', trustProxy: 'loopback' })
    const from = (address: string) => get('/docs', { 'X-Forwarded-For': address })
    for (const address of ['203.0.113.1', '203.0.113.2', '2001:db8:1:1::1']) {
      assert.equal(await statuses(service, 3, from(address)), '200 200 429')
    }
    assert.equal(await statuses(service, 1, from('2001:db8:1:1::2')), '429', 'of the same network')
  })
})
