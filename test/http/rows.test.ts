// The rows of verify over sockets, with stricter checks: the document in every detail, the bytes of a plant, our
// messages, and that the connection continues unless the response ends it. Then cases that only this server must
// handle. In the second ring, test/verify runs all rows as `plantstore verify` does.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ErrorCode, errorNumbers } from '../../src/domain/errors.ts'
import { plantJson } from '../../verify/plant.ts'
import type { RowRequest } from '../support/client.ts'
import type { HttpResponse } from '../support/conformance.ts'
import { describeOnEngines } from '../support/engines.ts'
import { assertNamed, checkRow, type Messages, makeRows, makeTokens } from '../support/rows.ts'
import { serveSuite, startSuite } from '../support/service.ts'
import { openTestStore, readPlant } from '../support/store.ts'

const fraction = /got a number with a fraction$/
const notInt64 = /^id: must be an integer from -9223372036854775808 to 9223372036854775807, got /
const unknown = /^id: there is no plant \d+$/
const changed = /^If-Match: plant \d+ has changed since you read it; read it again$/
const matches = /^If-None-Match: plant \d+ exists and its ETag matches; send other ETags, or none/
/** What our own messages say at rows of verify. */
const messages: Messages = {
  'createPlant refuses an id that is no integer': [fraction, fraction, notInt64, /got an array$/],
  'an id that is null is refused': /got null$/,
  'an id that is an object is refused': /got an object$/,
  'an id that is taken is refused, and its plant stays as it is': [undefined, /^id: \d+ is already taken; choose/],
  'createPlant refuses a name of more than 1,024 characters': [/^name: must have at most 1024 characters, got 1025$/],
  'createPlant refuses a name that is no string': [/^name: must be a string, got null$/],
  'a body without an id is no plant': [
    /^id: is missing$/,
    /^name: is missing; id: is missing$/,
    /^the plant: must be an object, got /,
  ],
  'createPlant refuses JSON that is no plant': [undefined, undefined, undefined, /name: .*; tag: /],
  'createPlant refuses what is not JSON': [/^the body is empty$/],
  'createPlant needs the scope plants:write': [/^the token needs the scope plants:write, but has plants:read$/],
  'createPlant is at no path like its own': [/^there is nothing at \/plants\/; no path ends with a slash$/],
  'nothing is at a path of 5,000 characters': [/^there is nothing at \/a{199}$/],
  'Authorization twice': [/^authorization: must be sent once$/],
  'another plant under a key that was used is refused': [undefined, undefined, /; send another key with this one$/],
  'every operation on a missing plant answers 404': Array(7).fill(unknown),
  'getPlant refuses a If-None-Match that is not allowed': [undefined, /^If-None-Match: must be \* or a list of ETags/],
  'replacePlant refuses a If-Match that is not allowed': [undefined, /^If-Match: must be/],
  'getPlant obeys If-Match': [...Array(4), ...Array(6).fill(changed)],
  'replacePlant obeys If-Match': [...Array(4), ...Array(6).fill(changed)],
  'replacePlant obeys If-None-Match': [...Array(4), ...Array(7).fill(matches), changed, matches],
  'getPlant refuses an id that is not allowed': notInt64,
  'listPlants: the query limit=0 is refused': /^limit: must be an integer from 1 to 1000, got 0$/,
  'listPlants: the query limit=1.5 is refused': /got "1\.5"$/,
  'listPlants: the query limit=100&limit=100 is refused': /^limit: must be sent once$/,
  'listPlants: the query after=9223372036854775808 is refused': /^after: must be an integer/,
  'listPlants: the query tag=%00 is refused': /^tag: must have no NUL/,
  [`listPlants: the query tag=${'a'.repeat(36)} is refused`]: /^tag: must have at most 256/,
  'listPlants: the query name=%zz is refused': /percent-encoded/,
  'listPlants: the query colour=green is refused': /^"colour": is not a parameter here, only limit, after, tag, name$/,
  'a position that the server never gave is refused, for a page and a stream': /request after=now, list the plants/,
}

describeOnEngines('the rows of plantstore verify', async (engine) => {
  const { place, server, client } = await serveSuite(engine)
  const tokens = await makeTokens(place.store, server.token)
  const shared = makeRows(tokens)
  /** Ids of rows whose requests were all refused. */
  const refused: bigint[] = []
  /** What was acknowledged, by id. */
  const kept = new Map<bigint, string>()

  assertNamed(shared, Object.keys(messages))

  function note({ method = 'POST', target = '/plants' }: RowRequest, { status, headers, body }: HttpResponse): void {
    if (status >= 300 || headers.has('idempotency-replayed')) return
    const [, id] = /^\/plants\/(-?\d+)/.exec(headers.get('location') ?? decodeURI(target)) ?? []
    if (id === undefined) return
    if (method === 'DELETE') kept.delete(BigInt(id))
    else if (method === 'POST' || method === 'PUT') kept.set(BigInt(id), body)
  }

  for (const row of shared.rows) {
    test(row.title, async () => {
      await using cleanup = new AsyncDisposableStack()
      const open = async () => cleanup.use(await client.open())
      let connection = await open()
      const request = async (parts: RowRequest): Promise<HttpResponse> => {
        const response = await connection.request(parts)
        note(parts, response)
        if (response.headers.get('connection') !== 'close') return response
        connection.finish()
        await connection.closed()
        connection = await open()
        return response
      }
      const responses = await checkRow({ request }, row, shared, messages)
      if (responses.every(({ status }) => status >= 400)) refused.push(...row.ids)
    })
  }

  test('leave exactly the acknowledged plants in the store, and no rejected ones', async () => {
    await server.stop()
    await using opened = await openTestStore(place.store)
    assert.ok(kept.size > 100)
    for (const [id, plant] of kept) assert.deepEqual(await readPlant(opened, id), JSON.parse(plant), String(id))
    assert.ok(refused.length > 100)
    for (const id of refused) assert.equal(await opened.getPlant(id), undefined)
  })
})

describe('this service', async () => {
  const client = await startSuite()
  const get = (headers: Record<string, string>, method = 'GET'): Promise<HttpResponse> =>
    client.request({ method, target: '/plants/0', headers })

  const anyone = { Authorization: undefined }
  const long = ' '.repeat(70_000)
  const twice = ['Host: b.example']
  const refusals: readonly (readonly [title: string, request: RowRequest, error: ErrorCode, message: RegExp])[] = [
    ['a short fraction', { body: plantJson('1.5', 'n') }, 'invalidPlant', /got 1\.5$/],
    ['an id past every double', { body: plantJson('1e400', 'n') }, 'invalidPlant', /got a number too large for a dou/],
    ['a place of others', { target: '/swagger' }, 'unknownPath', /^there is nothing at \/swagger; see \/docs, \/open/],
    ['a path that is a token', { target: `/plt_${'a'.repeat(49)}` }, 'unknownPath', /^there is nothing at \/plt_\.+$/],
    ['Host before the path', { target: '/nowhere', lines: twice }, 'repeatedHeader', /^Host: must be sent once$/],
    ['the token before the length', { body: long, headers: anyone }, 'missingToken', /./],
    ['the type before the length', { body: long, headers: { 'Content-Type': 'a/b' } }, 'unsupportedMediaType', /./],
    ['the length before the body', { body: `x${long}` }, 'bodyTooLarge', /./],
  ]
  for (const [title, request, error, message] of refusals) {
    test(`refuses ${title}`, async () => {
      const response = await client.request(request)
      const told = JSON.parse(response.body)
      assert.equal(told.error, errorNumbers[error], response.body)
      assert.match(told.message, message)
      assert.equal(response.headers.get('connection') === 'close', (request.body?.length ?? 0) > 65_536)
    })
  }

  test('compares ETags in time by their length, and none of an empty list', async () => {
    await client.create(0n, 'n')
    const etag = (await get({})).headers.get('etag') ?? ''
    // It ends as the mark of a weak one.
    assert.equal((await get({ 'If-None-Match': `${etag.slice(0, -1)}W/"` })).status, 200)
    const unchanged = await get({ 'If-None-Match': etag }, 'HEAD')
    assert.deepEqual([unchanged.status, unchanged.headers.get('content-length')], [304, undefined])
    for (const value of [`"a"${',      '.repeat(2_000)}x`, `${'"a" , '.repeat(2_000)}x`, `"a"${' '.repeat(12_000)}x`]) {
      assert.match((await get({ 'If-None-Match': value })).body, /^\{"error":40004,"message":"If-None-Match: must be/)
    }
    for (const value of ['', ' , ,']) {
      assert.equal((await get({ 'If-None-Match': value })).status, 200)
      assert.equal((await get({ 'If-Match': value })).status, 412)
    }
  })
})
