// Reading, listing, replacing and deleting over HTTP: status, header fields and messages.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Client, encodeRequest } from '../support/client.ts'
import type { HttpResponse } from '../support/conformance.ts'
import { describeOnEngines } from '../support/engines.ts'
import { startServer } from '../support/program.ts'

describeOnEngines('the life of a plant', async (engine) => {
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
  const put = (target: string, body: string, headers: Record<string, string> = {}): Promise<HttpResponse> =>
    client.request({ method: 'PUT', target, body, headers })
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

  test('what is not there is 404 and named', async () => {
    checkError(await get('/plants/424242'), 40402, /^id: there is no plant 424242$/)
    checkError(await put('/plants/424242', '{"name":"n"}'), 40402, /424242/)
    checkError(await remove('/plants/424242'), 40402, /424242/)
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

  test('If-None-Match is answered with 304 when it names what is there', async () => {
    const etag = (await get('/plants/1')).headers.get('etag') ?? ''
    for (const value of [etag, `W/${etag}`, `"x", ${etag}`, '*', `${etag},"y",`]) {
      const response = await get('/plants/1', { 'If-None-Match': value })
      assert.equal(response.status, 304, value)
      assert.equal(response.headers.get('etag'), etag)
    }
    assert.equal((await get('/plants/1', { 'If-None-Match': '"x"' })).status, 200)
    checkError(await get('/plants/1', { 'If-None-Match': 'x' }), 40004, /^If-None-Match: must be \* or a list of ETags/)
    checkError(await get('/plants/424242', { 'If-None-Match': '*' }), 40402, /424242/)
  })

  test('If-Match on a read has it answered only while the plant is as it was', async () => {
    const etag = (await get('/plants/1')).headers.get('etag') ?? ''
    assert.equal((await get('/plants/1', { 'If-Match': etag })).status, 200)
    for (const value of ['"x"', `W/${etag}`]) {
      checkError(await get('/plants/1', { 'If-Match': value }), 41201, /^If-Match: plant 1 has changed/)
    }
    // In the order of RFC 9110, section 13.2.2.
    checkError(await get('/plants/1', { 'If-Match': '"x"', 'If-None-Match': etag }), 41201, /^If-Match/)
    assert.equal((await get('/plants/1', { 'If-Match': etag, 'If-None-Match': etag })).status, 304)
  })

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

  test('a plant is replaced, and answered as createPlant answers', async () => {
    const response = await put('/plants/2', '{"name":"Nephrolepis","tag":"fern","id":99,"colour":"green"}')
    assert.equal(response.body, '{"name":"Nephrolepis","tag":"fern"}')
    const read = await get('/plants/2')
    assert.equal(read.body, '{"id":2,"name":"Nephrolepis","tag":"fern"}')
    assert.equal(read.headers.get('etag'), response.headers.get('etag'))
    assert.equal((await put('/plants/2', '{"name":"Nephrolepis"}')).body, '{"name":"Nephrolepis"}')
    checkError(await put('/plants/2', '{"tag":"x"}'), 40002, /^name: is missing$/)
    checkError(await put('/plants/2', '{'), 40001, /^not valid JSON/)
    checkError(await put('/plants/2', '{"name":"n"}', { 'Content-Type': 'text/plain' }), 41501, /application\/json/)
  })

  test('If-Match lets nobody undo what another has done', async () => {
    const etag = (await get('/plants/4')).headers.get('etag') ?? ''
    checkError(
      await put('/plants/4', '{"name":"n"}', { 'If-Match': '"x"' }),
      41201,
      /^If-Match: plant 4 has changed since you read it; read it again$/,
    )
    checkError(await put('/plants/4', '{"name":"n"}', { 'If-Match': `W/${etag}` }), 41201, /has changed/)
    assert.equal((await put('/plants/4', '{"name":"first"}', { 'If-Match': `"x", ${etag}` })).status, 200)
    checkError(await put('/plants/4', '{"name":"second"}', { 'If-Match': etag }), 41201, /has changed/)
    checkError(await remove('/plants/4', { 'If-Match': etag }), 41201, /has changed/)
    checkError(await put('/plants/4', '{"name":"n"}', { 'If-Match': 'x' }), 40004, /^If-Match: must be/)
    assert.equal((await remove('/plants/4', { 'If-Match': '*' })).status, 204)
    checkError(await remove('/plants/4', { 'If-Match': '*' }), 40402, /no plant 4/)
  })

  test('If-None-Match keeps a plant as it is when it names what is there', async () => {
    await client.create(8000n, 'Ficus')
    const etag = (await get('/plants/8000')).headers.get('etag') ?? ''
    for (const value of ['*', etag, `W/${etag}`, `"x", ${etag}`]) {
      const why = /^If-None-Match: plant 8000 exists and its ETag matches; send other ETags, or none/
      checkError(await put('/plants/8000', '{"name":"m"}', { 'If-None-Match': value }), 41201, why)
      checkError(await remove('/plants/8000', { 'If-None-Match': value }), 41201, why)
    }
    checkError(await put('/plants/8000', '{"name":"m"}', { 'If-None-Match': 'x' }), 40004, /^If-None-Match: must be/)
    assert.equal((await put('/plants/8000', '{"name":"m"}', { 'If-None-Match': '"x"' })).status, 200)
    assert.equal((await remove('/plants/8000', { 'If-None-Match': etag })).status, 204)
    checkError(await remove('/plants/8000', { 'If-None-Match': '*' }), 40402, /no plant 8000/)
  })

  test('a deleted id is free again, and an old key does not bring the plant back', async () => {
    const headers = { 'Idempotency-Key': 'life' }
    assert.equal((await client.create(500n, 'mortal', undefined, headers)).status, 200)
    assert.equal((await remove('/plants/500')).status, 204)
    const retried = await client.create(500n, 'mortal', undefined, headers)
    assert.equal(retried.headers.get('idempotency-replayed'), 'true')
    assert.equal((await get('/plants/500')).status, 404)
    assert.equal((await client.create(500n, 'again')).status, 200)
    await remove('/plants/500')
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
    const expected = Array.from({ length: 125 }, (_, index) => `${index * 2}`).filter((id) => !['2', '4'].includes(id))
    assert.deepEqual(seen, expected)
    assert.equal(pages, Math.ceil(expected.length / 7))
  })

  test('a plus sign in a query is a space', async () => {
    const { body } = await get('/plants?tag=fern+%26+moss&limit=1&after=5')
    assert.match(body, /^\[\{"id":6,/)
  })

  test('a list has 100 plants unless it is asked for another number', async () => {
    assert.equal(JSON.parse((await get('/plants')).body).length, 100)
    assert.equal(JSON.parse((await get('/plants?limit=1000')).body).length, 251)
    assert.equal((await get('/plants?after=9223372036854775807')).body, '[]')
    assert.equal(
      (await get('/plants?after=9223372036854775806')).body,
      '[{"id":9223372036854775807,"name":"Ficus elastica","tag":"fig"}]',
    )
  })

  for (const [query, message] of [
    ['limit=0', /^limit: must be an integer from 1 to 1000, got 0$/],
    ['limit=-1', /^limit: must be an integer from 1 to 1000, got -1$/],
    ['limit=1001', /got 1001$/],
    ['limit=1.5', /got "1\.5"$/],
    ['limit=ten', /got "ten"$/],
    ['limit=01', /got "01"$/],
    ['limit=', /got ""$/],
    ['limit=1&limit=1', /^limit: must be sent once$/],
    ['after=x', /^after: must be an integer from -9223372036854775808/],
    ['after=9223372036854775808', /^after: must be an integer/],
    ['tag=%00', /^tag: must have no NUL/],
    [`tag=${'a'.repeat(257)}`, /^tag: must have at most 256/],
    ['tag=%ff', /percent-encoded/],
    ['name=%zz', /percent-encoded/],
    ['colour=green', /^"colour": is not a parameter here, only limit, after, tag, name$/],
    ['Limit=1', /^"Limit": is not a parameter here/],
  ] as const) {
    test(`the query ${query.slice(0, 30)} is refused`, async () => {
      checkError(await get(`/plants?${query}`), 40005, message)
    })
  }
})
