// Reading, listing, replacing and deleting over HTTP: the rows of src/verify with our messages, and what no other server
// has to do.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { listRows } from '../../src/verify/rows/lists.ts'
import { plantRows } from '../../src/verify/rows/plants.ts'
import { summaryRows } from '../../src/verify/rows/summary.ts'
import { Client, encodeRequest } from '../support/client.ts'
import type { HttpResponse } from '../support/conformance.ts'
import { describeOnBothEngines } from '../support/engines.ts'
import { startServer } from '../support/program.ts'
import { assertNamed, checkRow, type Messages, makeRows } from '../support/rows.ts'

describeOnBothEngines('the life of a plant', async (engine) => {
  const place = await engine.makePlace()
  const server = await startServer(place.store)
  let client: Client

  before(async () => {
    client = await Client.connect(server)
    assert.equal((await client.create(9223372036854775807n, 'Ficus elastica', 'fig')).status, 200)
    assert.equal((await client.create(-9223372036854775808n, 'Monstera "deliciosa" 🌿')).status, 200)
    for (let id = 0n; id < 250n; id += 1n)
      await client.create(id, `Fern ${id}`, id % 2n === 0n ? 'fern & moss' : 'fern')
  })

  after(async () => {
    await server[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
  })

  const get = (target: string, headers: Record<string, string> = {}): Promise<HttpResponse> =>
    client.request({ method: 'GET', target, headers })
  const remove = (target: string, headers: Record<string, string> = {}): Promise<HttpResponse> =>
    client.request({ method: 'DELETE', target, headers })
  const checkError = ({ status, body }: HttpResponse, error: number, message: RegExp): void => {
    assert.equal(status, Math.floor(error / 100), body)
    assert.equal(JSON.parse(body).error, error)
    assert.match(JSON.parse(body).message, message)
  }

  test('a plant is read with every digit of its id, and with a strong ETag', async () => {
    const max = await get('/plants/9223372036854775807')
    assert.equal(max.body, '{"id":9223372036854775807,"name":"Ficus elastica","tag":"fig"}')
    assert.match(max.headers.get('etag') ?? '', /^"[\w-]{22}"$/)
    const min = await get('/plants/-9223372036854775808')
    assert.equal(min.body, '{"id":-9223372036854775808,"name":"Monstera \\"deliciosa\\" 🌿"}')
    assert.equal((await client.request({ method: 'HEAD', target: '/plants/1' })).status, 200)
  })

  for (const id of [
    'seven',
    '1.0',
    '1e3',
    '01',
    '-0',
    '+1',
    '9223372036854775808',
    '-9223372036854775809',
    '0x1',
    '%20',
    '1%20',
    '٣',
    '--1',
    '9'.repeat(26),
    '9'.repeat(5_000),
  ]) {
    test(`the id ${id.slice(0, 30)} is no int64${id.length > 100 ? ', however long' : ''}`, async () => {
      for (const response of [
        await get(`/plants/${encodeURI(id).replaceAll('%25', '%')}`),
        await remove(`/plants/${encodeURI(id).replaceAll('%25', '%')}`),
      ]) {
        checkError(response, 40005, /^id: must be an integer from -9223372036854775808 to 9223372036854775807, got "?/)
      }
    })
  }

  test('an ETag that ends like the mark of a weak one is another one', async () => {
    const etag = (await get('/plants/1')).headers.get('etag') ?? ''
    const other = `${etag.slice(0, -1)}W/"`
    assert.equal((await get('/plants/1', { 'If-None-Match': other })).status, 200)
  })

  test('HEAD says of the body what GET would send, and nothing where GET sends none', async () => {
    const read = await get('/plants/1')
    const head = await client.request({ method: 'HEAD', target: '/plants/1' })
    assert.equal(head.headers.get('content-length'), read.headers.get('content-length'))
    const headers = { 'If-None-Match': read.headers.get('etag') }
    const unchanged = await client.request({ method: 'HEAD', target: '/plants/1', headers })
    assert.equal(unchanged.status, 304)
    assert.equal(unchanged.headers.get('content-length'), undefined)
  })

  test('a body that nobody wants is passed over, whatever it says that it is', async () => {
    await client.create(8100n, 'Ficus')
    for (const [target, status] of [
      ['/plants/8100', 204],
      ['/plants/8100', 404],
    ] as const) {
      const headers = { 'Content-Type': 'no media type', 'Content-Length': '3' }
      assert.equal((await client.request({ method: 'DELETE', target, headers, body: 'x"{' })).status, status)
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

  test('a list of ETags takes time by its length, whatever its form', async () => {
    for (const value of [`"a"${',      '.repeat(2_000)}x`, `${'"a" , '.repeat(2_000)}x`, `"a"${' '.repeat(12_000)}x`]) {
      const response = await get('/plants/1', { 'If-None-Match': value })
      checkError(response, 40004, /^If-None-Match: must be/)
    }
    const etag = (await get('/plants/1')).headers.get('etag') ?? ''
    assert.equal((await get('/plants/1', { 'If-None-Match': `, ,"x" ,\t,${etag}, ,` })).status, 304)
  })

  test('an empty list of ETags has none that matches', async () => {
    for (const value of ['', ' , ,']) {
      assert.equal((await get('/plants/1', { 'If-None-Match': value })).status, 200)
      checkError(await get('/plants/1', { 'If-Match': value }), 41201, changed)
    }
  })

  test('a list follows its links to the end and keeps its filters', async () => {
    const seen: string[] = []
    let pages = 0
    for (let target: string | undefined = '/plants?tag=fern%20%26%20moss&name=FERN&limit=7'; target !== undefined; ) {
      const response: HttpResponse = await get(target)
      assert.equal(response.status, 200, response.body)
      seen.push(...[...response.body.matchAll(/"id":(-?\d+)/g)].map(([, id]) => id ?? ''))
      target = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1]
      pages += 1
    }
    const expected = Array.from({ length: 125 }, (_, index) => `${index * 2}`)
    assert.deepEqual(seen, expected)
    assert.equal(pages, Math.ceil(expected.length / 7))
  })

  test('a list has 100 plants unless it is asked for another number', async () => {
    assert.equal(JSON.parse((await get('/plants')).body).length, 100)
    assert.equal(JSON.parse((await get('/plants?limit=1000')).body).length, 252)
    assert.equal((await get('/plants?after=9223372036854775807')).body, '[]')
    assert.equal(
      (await get('/plants?after=9223372036854775806')).body,
      '[{"id":9223372036854775807,"name":"Ficus elastica","tag":"fig"}]',
    )
  })

  const shared = makeRows({ token: server.token }, plantRows, listRows, summaryRows)
  assertNamed(shared, Object.keys(messages))

  for (const row of shared.rows) {
    test(row.title, async () => {
      await using connection = await client.open()
      const asker = closing.includes(row.title) ? client : connection
      const responses = await checkRow(asker, row, shared.credentials, messages)
      if (row.title === 'replacing a plant answers like createPlant') {
        assert.equal(responses[1]?.body, '{"name":"Nephrolepis","tag":"fern"}')
        assert.equal(responses[4]?.body, '{"name":"Nephrolepis"}')
      }
    })
  }
})

const unknown = /^id: there is no plant \d+$/
const changed = /^If-Match: plant \d+ has changed since you read it; read it again$/
const matches = /^If-None-Match: plant \d+ exists and its ETag matches; send other ETags, or none/
const notInt64 = /^id: must be an integer from -9223372036854775808 to 9223372036854775807, got "?/

/** The row after whose refusal the server ends the connection. */
const closing = ['a replace of 65,537 bytes changes nothing', 'a replace of 65,537 bytes, mostly é changes nothing']

/** What our own messages say at the rows of src/verify, answer by answer. */
const messages: Messages = {
  'every operation on a missing plant answers 404': [unknown, unknown, unknown, unknown, unknown],
  'If-None-Match gets 304 when it names the current ETag': [
    ...Array.from({ length: 12 }, () => undefined),
    /^If-None-Match: must be \* or a list of ETags/,
  ],
  'If-Match on a read succeeds only while the plant is unchanged': [
    ...[undefined, undefined, undefined],
    ...[changed, changed, changed],
  ],
  'If-None-Match prevents a change when it names the current ETag': [
    ...[undefined, undefined],
    ...Array.from({ length: 8 }, () => matches),
    ...Array.from({ length: 6 }, () => /^If-None-Match: must be/),
    ...[undefined, undefined, undefined],
    unknown,
  ],
  'a replace without a name changes nothing': [undefined, /^name: is missing$/],
  'a replace with no JSON changes nothing': [undefined, /^not valid JSON/],
  'a replace of another media type changes nothing': [undefined, /application\/json/],
  'a plant is deleted': [undefined, undefined, undefined, unknown, unknown],
  'If-Match prevents lost updates': [
    ...[undefined, undefined],
    ...Array.from({ length: 8 }, () => changed),
    ...[undefined, changed, changed],
    /^If-Match: must be/,
    undefined,
    ...Array.from({ length: 18 }, () => /^If-Match: must be/),
    ...[undefined, undefined, undefined],
    changed,
    undefined,
    ...[unknown, unknown],
  ],
  'the id in words in a path': notInt64,
  'the id with a fraction of zero in a path': notInt64,
  'the id with an exponent in a path': notInt64,
  'the id with a leading zero in a path': notInt64,
  'the id with a plus sign in a path': notInt64,
  'the id with a space behind it in a path': notInt64,
  'the id in Arabic digits in a path': notInt64,
  'the id of 26 digits in a path': notInt64,
  'the id of 5,000 digits in a path': notInt64,
  'the query limit=0 is refused': /^limit: must be an integer from 1 to 1000, got 0$/,
  'the query limit=-1 is refused': /^limit: must be an integer from 1 to 1000, got -1$/,
  'the query limit=1001 is refused': /got 1001$/,
  'the query limit=1.5 is refused': /got "1\.5"$/,
  'the query limit=ten is refused': /got "ten"$/,
  'the query limit=01 is refused': /got "01"$/,
  'the query limit= is refused': /got ""$/,
  'the query limit=1&limit=1 is refused': /^limit: must be sent once$/,
  'the query after=x is refused': /^after: must be an integer from -9223372036854775808/,
  'the query after=9223372036854775808 is refused': /^after: must be an integer/,
  'the query tag=%00 is refused': /^tag: must have no NUL/,
  [`the query tag=${'a'.repeat(26)} is refused`]: /^tag: must have at most 256/,
  'the query tag=%ff is refused': /percent-encoded/,
  'the query name=%zz is refused': /percent-encoded/,
  'the query colour=green is refused': /^"colour": is not a parameter here, only limit, after, tag, name$/,
  'the query Limit=1 is refused': /^"Limit": is not a parameter here/,
}
