// Reading, listing, replacing and deleting over HTTP: the rows of verify with our messages, and what no other server
// has to do.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { etagRows } from '../../verify/rows/etags.ts'
import { repeatRows } from '../../verify/rows/idempotency.ts'
import { listRows } from '../../verify/rows/lists.ts'
import { parameterRows } from '../../verify/rows/parameters.ts'
import { plantRows } from '../../verify/rows/plants.ts'
import { summaryRows } from '../../verify/rows/summary.ts'
import { unreadRows } from '../../verify/rows/unread.ts'
import { Client, encodeRequest } from '../support/client.ts'
import type { HttpResponse } from '../support/conformance.ts'
import { describeOnEngines } from '../support/engines.ts'
import { assertNamed, checkRow, type Messages, makeRows, makeTokens } from '../support/rows.ts'
import { type Service, serveHere, startService } from '../support/service.ts'

const makers = [plantRows, etagRows, unreadRows, parameterRows, listRows, summaryRows, repeatRows]

describeOnEngines('the life of a plant', async (engine) => {
  const place = await engine.makePlace()
  const server = await serveHere(place.store)
  const client = await Client.connect(server)
  const tokens = await makeTokens(place.store, server.token)
  const shared = makeRows(tokens, ...makers)

  after(async () => {
    await server[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
  })

  assertNamed(shared, Object.keys(messages))

  for (const row of shared.rows) {
    test(row.title, async () => {
      await using connection = await client.open()
      const responses = await checkRow(connection, row, shared.credentials, messages)
      if (row.title === 'replacing a plant answers like createPlant') {
        assert.equal(responses[2]?.body, '{"name":"Nephrolepis","tag":"fern"}')
        assert.equal(responses[5]?.body, '{"name":"Nephrolepis"}')
      }
      // To the byte, however the plant was written.
      const replayed = responses.filter(({ headers }) => headers.has('idempotency-replayed'))
      for (const { body } of replayed) assert.equal(body, responses[0]?.body)
    })
  }
})

describe('a plant over HTTP', () => {
  let service: Service
  let etag: string

  before(async () => {
    service = await startService({})
    assert.equal((await service.client.create(1n, 'Fern')).status, 200)
    etag = (await get({})).headers.get('etag') ?? ''
  })

  after(() => service[Symbol.asyncDispose]())

  const get = (headers: Record<string, string>, method = 'GET'): Promise<HttpResponse> =>
    service.client.request({ method, target: '/plants/1', headers })
  const checkError = ({ status, body }: HttpResponse, error: number, message: RegExp): void => {
    assert.deepEqual([status, JSON.parse(body).error], [Math.floor(error / 100), error], body)
    assert.match(JSON.parse(body).message, message)
  }

  test('has another ETag than one that ends like the mark of a weak one', async () => {
    assert.equal((await get({ 'If-None-Match': `${etag.slice(0, -1)}W/"` })).status, 200)
  })

  test('is no body where GET sends none', async () => {
    const unchanged = await get({ 'If-None-Match': etag }, 'HEAD')
    assert.deepEqual([unchanged.status, unchanged.headers.get('content-length')], [304, undefined])
  })

  test('takes a body that nobody wants, whatever it says that it is', async () => {
    const { client } = service
    await client.create(8100n, 'Ficus')
    for (const status of [204, 404]) {
      const headers = { 'Content-Type': 'no media type', 'Content-Length': '3' }
      const request = { method: 'DELETE', target: '/plants/8100', headers, body: 'x"{' }
      assert.equal((await client.request(request)).status, status)
    }
    await using waiting = await client.open()
    for (const method of ['DELETE', 'GET']) {
      const headers = { Expect: '100-continue', 'Content-Length': '3' }
      waiting.send(encodeRequest(client.token, { method, target: '/plants/8100', headers }))
      await waiting.untilReceived('HTTP/1.1 100 Continue\r\n\r\n')
      waiting.send('abc')
      assert.equal((await waiting.answerTo(method, '/plants/8100')).status, 404)
    }
  })

  test('takes time by the length of a list of ETags, whatever its form', async () => {
    for (const value of [`"a"${',      '.repeat(2_000)}x`, `${'"a" , '.repeat(2_000)}x`, `"a"${' '.repeat(12_000)}x`]) {
      checkError(await get({ 'If-None-Match': value }), 40004, /^If-None-Match: must be/)
    }
    assert.equal((await get({ 'If-None-Match': `, ,"x" ,\t,${etag}, ,` })).status, 304)
  })

  test('matches no ETag of an empty list', async () => {
    for (const value of ['', ' , ,']) {
      assert.equal((await get({ 'If-None-Match': value })).status, 200)
      checkError(await get({ 'If-Match': value }), 41201, changed)
    }
  })
})

const unknown = /^id: there is no plant \d+$/
const changed = /^If-Match: plant \d+ has changed since you read it; read it again$/
const matches = /^If-None-Match: plant \d+ exists and its ETag matches; send other ETags, or none/
const notInt64 = /^id: must be an integer from -9223372036854775808 to 9223372036854775807, got "?/

/** What our own messages say at the rows of verify, answer by answer. */
const messages: Messages = {
  'another plant under a key that was used is refused': [
    ...[undefined, undefined],
    ...Array(5).fill(/; send another key with this one$/),
  ],
  'every operation on a missing plant answers 404': Array(7).fill(unknown),
  'getPlant refuses a If-None-Match that is not allowed': [
    undefined,
    ...Array(6).fill(/^If-None-Match: must be \* or a list of ETags/),
  ],
  'replacePlant refuses a If-Match that is not allowed': [undefined, ...Array(6).fill(/^If-Match: must be/)],
  'If-Match on a read succeeds only while the plant is unchanged': [
    ...Array(4).fill(undefined),
    ...Array(4).fill(changed),
  ],
  'If-None-Match prevents a change when it names the current ETag': [
    ...[undefined, undefined],
    ...Array.from({ length: 8 }, () => matches),
    ...[undefined, undefined, undefined],
    unknown,
  ],
  'a plant is deleted': [undefined, undefined, undefined, unknown, unknown],
  'If-Match prevents lost updates': [
    ...[undefined, undefined],
    ...Array.from({ length: 8 }, () => changed),
    ...[undefined, changed, changed],
    ...[undefined, undefined, undefined],
    ...[unknown, unknown],
  ],
  'the id in words in a path': notInt64,
  'the id of 5,000 digits in a path': notInt64,
  'listPlants: the query limit=0 is refused': /^limit: must be an integer from 1 to 1000, got 0$/,
  'listPlants: the query limit=1.5 is refused': /got "1\.5"$/,
  'listPlants: the query limit=100&limit=100 is refused': /^limit: must be sent once$/,
  'listPlants: the query after=9223372036854775808 is refused': /^after: must be an integer/,
  'listPlants: the query tag=%00 is refused': /^tag: must have no NUL/,
  [`listPlants: the query tag=${'a'.repeat(36)} is refused`]: /^tag: must have at most 256/,
  'listPlants: the query name=%zz is refused': /percent-encoded/,
  'listPlants: the query colour=green is refused': /^"colour": is not a parameter here, only limit, after, tag, name$/,
}
