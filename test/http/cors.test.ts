// Cross-origin requests, by their header fields: rows.test.ts has the rows, test/browser a real browser.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Client } from '../support/client.ts'
import { onService, startService } from '../support/service.ts'

const origin = { Origin: 'https://garden.example' }

/** The fields for pages in the answer to what never was a request. */
async function fieldsWhenBroken(client: Client): Promise<readonly (string | undefined)[]> {
  await using broken = await client.open()
  broken.send('GET / HTTP/9.9\r\n\r\n')
  const { headers } = await broken.answer()
  return [headers.get('access-control-allow-origin'), headers.get('access-control-expose-headers')]
}

describe('CORS', () => {
  onService('any origin may call by default, and can read the error for an invalid request', async (service) => {
    const { headers } = await service.request({ method: 'GET', target: '/%zz', headers: origin })
    assert.equal(headers.get('access-control-allow-origin'), '*')
    const exposed = headers.get('access-control-expose-headers')
    assert.match(exposed ?? '', /\bX-Request-Id\b/)
    assert.deepEqual(await fieldsWhenBroken(service), ['*', exposed])
  })

  test('--cors-origin names the origins that may call', async () => {
    await using service = await startService({}, { corsOrigin: 'https://garden.example,http://localhost:8080' })
    const ask = async (method: string, target: string, headers: Record<string, string>) =>
      (await service.request({ method, target, headers })).headers
    const allowed = await ask('GET', '/plants', origin)
    assert.equal(allowed.get('access-control-allow-origin'), 'https://garden.example')
    // A cache must not give the answer to pages of other origins, nor that without an origin to any.
    for (const headers of [allowed, await ask('GET', '/plants', {}), await ask('HEAD', '/plants', origin)]) {
      assert.equal(headers.get('vary'), 'Origin')
    }
    assert.equal((await ask('GET', '/', origin)).get('vary'), 'Origin, Accept, Accept-Encoding, Authorization')
    assert.deepEqual(await fieldsWhenBroken(service), [undefined, undefined])
    const preflight = { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'PUT' }
    const other = [...(await ask('OPTIONS', '/plants', preflight)).keys()]
    assert.ok(!other.some((name) => name.startsWith('access-control-')), `${other}`)
  })

  test('--cors-origin none lets no page call', async () => {
    await using service = await startService({}, { corsOrigin: 'none' })
    const { headers } = await service.request({ method: 'GET', target: '/plants', headers: origin })
    assert.equal(headers.get('access-control-allow-origin'), undefined)
  })
})
