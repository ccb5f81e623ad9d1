// The events of a request for the log and the metrics: the operation, its result and its caller.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseNames } from '../../src/config.ts'
import type { RequestFinished } from '../../src/domain/events.ts'
import { createPeers } from '../../src/http/wire/peers.ts'
import { plantJson, type RowRequest } from '../support/client.ts'
import { startSuite } from '../support/service.ts'
import { addToken } from '../support/store.ts'
import { until } from '../support/time.ts'

describe('the event of a request', async () => {
  const service = await startSuite({}, { trustProxy: 'loopback, 10.0.0.0/8' })

  async function eventOf(request: RowRequest): Promise<RequestFinished> {
    const seen = service.events.length
    await service.request(request)
    await until('it is an event', () => service.events.length > seen)
    const event = service.events[seen]
    assert.ok(event?.kind === 'requestFinished' && event.durationMs > 0)
    return { ...event, durationMs: 0, requestId: '' }
  }

  test('names the operation and its caller', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.7, 10.1.2.3' }
    const { tokenId, ...rest } = await eventOf({ body: plantJson(100n, 'Aloe'), headers })
    assert.match(tokenId ?? '', /^tok_\w{12}$/)
    assert.deepEqual(rest, {
      ...{ kind: 'requestFinished', requestId: '', method: 'POST', operation: 'createPlant', path: '/plants' },
      ...{ status: 200, durationMs: 0, bytes: '{"name":"Aloe"}'.length, clientAddress: '203.0.113.7' },
      ...{ tokenName: 'first', plantId: '100' },
    })
    const refused = await eventOf({ body: plantJson(100n, 'Aloe') })
    assert.deepEqual([refused.error, refused.plantId], ['idTaken', '100'])
    const read = await eventOf({ method: 'GET', target: '/plants/100' })
    assert.equal(read.plantId, undefined, 'of changes alone')
    const deleted = await eventOf({ method: 'DELETE', target: '/plants/100' })
    assert.deepEqual([deleted.bytes, deleted.plantId], [0, '100'])
    const { secret } = await addToken(service.path, 'reads', ['plants:read'])
    const forbidden = await eventOf({ body: '{}', headers: { Authorization: `Bearer ${secret}` } })
    assert.deepEqual([forbidden.status, forbidden.tokenName], [403, 'reads'])
  })

  test('cannot have control characters in its path', async () => {
    for (const nasty of ['\u009b31m', '\u001b[31m', '\u00e2\u0080\u00ae']) {
      const { status, body } = await service.request({ method: 'GET', target: `/plants/${nasty}` })
      assert.deepEqual([status, JSON.parse(body).error], [400, 40000], JSON.stringify(nasty))
    }
  })
})

describe('--trust-proxy', () => {
  const socket = (remoteAddress: string | undefined, encrypted = false) =>
    ({ remoteAddress, encrypted }) as unknown as Parameters<ReturnType<typeof createPeers>['addressOf']>[0]

  for (const [proxies, own, forwarded, expected] of [
    ['none', '127.0.0.1', '203.0.113.7', '127.0.0.1'],
    ['loopback', '127.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['loopback', '::ffff:127.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['loopback', '127.0.0.1', '::ffff:203.0.113.7', '203.0.113.7'],
    ['loopback', '::ffff:127.0.0.1', undefined, '127.0.0.1'],
    ['loopback', '198.51.100.1', '203.0.113.7', '198.51.100.1'],
    // What the client sent stands before what the proxies add.
    ['loopback', '127.0.0.1', '6.6.6.6, 203.0.113.7', '203.0.113.7'],
    ['loopback,10.0.0.0/8', '127.0.0.1', '203.0.113.7, 10.9.9.9', '203.0.113.7'],
    ['10.0.0.0/8', '127.0.0.1', '203.0.113.7', '127.0.0.1'],
    ['loopback', '127.0.0.1', `<script>${'x'.repeat(9_000)}`, '127.0.0.1'],
    ['fc00::/7', 'fd00::1', '2001:db8::5', '2001:db8::5'],
    // With a port, as the gateway of Azure has them.
    ['loopback', '127.0.0.1', '203.0.113.7:1', '203.0.113.7'],
    ['loopback', '127.0.0.1', '[2001:db8::5]:443', '2001:db8::5'],
    ['loopback,10.0.0.0/8', '127.0.0.1', '203.0.113.7:1, 10.9.9.9:2', '203.0.113.7'],
    ['loopback', '127.0.0.1', '[203.0.113.7', '127.0.0.1'],
    // However they are written.
    ['loopback', '127.0.0.1', '2001:0db8:0000:0009::1', '2001:db8:0:9::1'],
    ['loopback', '127.0.0.1', '::ffff:cb00:7107', '203.0.113.7'],
    ['unix', undefined, '203.0.113.7', '203.0.113.7'],
    ['unix', '127.0.0.1', '203.0.113.7', '127.0.0.1'],
    ['loopback', undefined, '203.0.113.7', undefined],
  ] as const) {
    test(`${proxies}: ${own} says ${forwarded?.slice(0, 40)}: ${expected}`, () => {
      const address = createPeers(parseNames(proxies)).addressOf(socket(own), { 'x-forwarded-for': forwarded })
      assert.equal(address, expected)
    })
  }

  for (const [proxies, encrypted, forwarded, expected] of [
    ['none', false, 'https', 'http'],
    ['none', true, 'http', 'https'],
    ['loopback', false, 'https', 'https'],
    ['loopback', false, 'http, https', 'https'],
    ['loopback', false, 'javascript', 'http'],
    ['loopback', true, undefined, 'https'],
  ] as const) {
    test(`${proxies}, ${encrypted ? 'TLS' : 'plain'}: ${forwarded} is ${expected}`, () => {
      const fields = { 'x-forwarded-proto': forwarded }
      const scheme = createPeers(parseNames(proxies)).schemeOf(socket('127.0.0.1', encrypted), fields)
      assert.equal(scheme, expected)
    })
  }
})
