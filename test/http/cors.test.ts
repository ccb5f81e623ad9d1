// Cross-origin requests, by their header fields; test/browser has a real browser.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { corsRows } from '../../verify/rows/cors.ts'
import { checkRow, makeRows } from '../support/rows.ts'
import { startService } from '../support/service.ts'

const origin = { Origin: 'https://garden.example' }
const preflight = {
  ...origin,
  'Access-Control-Request-Method': 'PUT',
  'Access-Control-Request-Headers': 'authorization',
}

describe('CORS', () => {
  test('any origin may call unless the server is told otherwise, and sees errors too', async (context) => {
    await using service = await startService({})
    const { client } = service
    const { rows, credentials } = makeRows({ token: client.token }, corsRows)
    for (const row of rows) {
      await context.test(row.title, async () => {
        await using connection = await client.open()
        const responses = await checkRow(connection, row, credentials)
        assert.equal(responses.at(-1)?.headers.get('access-control-allow-origin'), '*')
      })
    }
    await context.test('what never was a request', async () => {
      await using broken = await client.open()
      broken.send('GET / HTTP/9.9\r\n\r\n')
      assert.equal((await broken.answer()).headers.get('access-control-allow-origin'), '*')
      const { headers } = await client.request({ method: 'GET', target: '/%zz', headers: origin })
      assert.equal(headers.get('access-control-allow-origin'), '*')
    })
  })

  test('--cors-origin names the origins that may call', async () => {
    await using service = await startService({}, { corsOrigin: 'https://garden.example,http://localhost:8080' })
    const { client } = service
    const allowed = await client.request({ method: 'GET', target: '/plants', headers: origin })
    assert.equal(allowed.headers.get('access-control-allow-origin'), 'https://garden.example')
    assert.equal(allowed.headers.get('vary'), 'Origin')
    // A cache must not give the answer to pages of other origins, nor that without an origin to any.
    const ofNone = await client.request({ method: 'GET', target: '/plants' })
    assert.equal(ofNone.headers.get('vary'), 'Origin')
    const head = await client.request({ method: 'HEAD', target: '/plants', headers: origin })
    assert.equal(head.headers.get('vary'), 'Origin')
    const home = await client.request({ method: 'GET', target: '/', headers: origin })
    assert.equal(home.headers.get('vary'), 'Origin, Accept, Accept-Encoding, Authorization')
    await using broken = await client.open()
    broken.send('GET / HTTP/9.9\r\n\r\n')
    assert.equal((await broken.answer()).headers.get('access-control-allow-origin'), undefined)
    const other = await client.request({
      method: 'OPTIONS',
      target: '/plants',
      headers: { ...preflight, Origin: 'https://evil.example' },
    })
    assert.equal(other.headers.get('access-control-allow-origin'), undefined)
    assert.equal(other.headers.get('access-control-allow-methods'), undefined)
  })

  test('--cors-origin none lets no page call', async () => {
    await using service = await startService({}, { corsOrigin: 'none' })
    const { headers } = await service.client.request({ method: 'GET', target: '/plants', headers: origin })
    assert.equal(headers.get('access-control-allow-origin'), undefined)
  })
})
