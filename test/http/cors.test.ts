// Cross-origin requests, by their header fields; test/browser has a real browser.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Client } from '../support/client.ts'
import { makeFolder } from '../support/folder.ts'
import { startServer } from '../support/program.ts'

const origin = { Origin: 'https://garden.example' }
const preflight = {
  ...origin,
  'Access-Control-Request-Method': 'PUT',
  'Access-Control-Request-Headers': 'authorization',
}

describe('CORS', () => {
  test('any origin may call unless the server is told otherwise, and sees errors too', async () => {
    await using folder = await makeFolder()
    await using server = await startServer(folder.file('plants.db'))
    const client = await Client.connect(server)
    for (const [method, target] of [
      ['GET', '/plants'],
      ['GET', '/plants/1'],
      ['GET', '/nowhere'],
      ['PATCH', '/plants'],
      ['GET', '/%zz'],
      ['POST', '/plants'],
    ] as const) {
      const { headers } = await client.request({ method, target, headers: origin })
      assert.equal(headers.get('access-control-allow-origin'), '*', `${method} ${target}`)
      for (const field of ['Location', 'ETag', 'Link', 'Retry-After', 'X-Request-Id']) {
        assert.ok(headers.get('access-control-expose-headers')?.includes(field), field)
      }
    }
    const unauthorised = await client.request({
      method: 'GET',
      target: '/plants',
      headers: { ...origin, Authorization: undefined },
    })
    assert.equal(unauthorised.status, 401)
    assert.equal(unauthorised.headers.get('access-control-allow-origin'), '*')
    await using broken = await client.open()
    broken.send('GET / HTTP/9.9\r\n\r\n')
    assert.equal((await broken.answer()).headers.get('access-control-allow-origin'), '*')
  })

  test('a preflight needs no token and says what may be sent', async () => {
    await using folder = await makeFolder()
    await using server = await startServer(folder.file('plants.db'))
    const client = await Client.connect(server)
    const headers = { ...preflight, Authorization: undefined }
    const response = await client.request({ method: 'OPTIONS', target: '/plants/1', headers })
    assert.equal(response.status, 204)
    assert.equal(response.headers.get('access-control-allow-methods'), 'DELETE, GET, HEAD, OPTIONS, PUT')
    assert.match(
      response.headers.get('access-control-allow-headers') ?? '',
      /Authorization.*Content-Type.*Idempotency-Key.*If-Match/,
    )
    assert.equal(response.headers.get('access-control-allow-origin'), '*')
    assert.equal(response.headers.get('access-control-max-age'), '7200')
    const asked = await client.request({ method: 'OPTIONS', target: '/plants/1', headers: origin })
    assert.equal(asked.headers.get('access-control-allow-methods'), undefined)
  })

  test('--cors-origin names the origins that may call', async () => {
    await using folder = await makeFolder()
    const args = ['--cors-origin', 'https://garden.example,http://localhost:8080']
    await using server = await startServer(folder.file('plants.db'), { args })
    const client = await Client.connect(server)
    const allowed = await client.request({ method: 'GET', target: '/plants', headers: origin })
    assert.equal(allowed.headers.get('access-control-allow-origin'), 'https://garden.example')
    assert.equal(allowed.headers.get('vary'), 'Origin')
    // A cache must not give the answer to pages of other origins, nor that without an origin to any.
    const ofNone = await client.request({ method: 'GET', target: '/plants' })
    assert.equal(ofNone.headers.get('vary'), 'Origin')
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
    await using folder = await makeFolder()
    await using server = await startServer(folder.file('plants.db'), { args: ['--cors-origin', 'none'] })
    const client = await Client.connect(server)
    const { headers } = await client.request({ method: 'GET', target: '/plants', headers: origin })
    assert.equal(headers.get('access-control-allow-origin'), undefined)
  })
})
