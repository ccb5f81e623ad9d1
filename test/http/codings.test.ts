// The pages and their files in the content codings that clients accept.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { after, describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { startService } from '../support/service.ts'

describe('files of the pages', async () => {
  const service = await startService({})

  after(() => service[Symbol.asyncDispose]())

  const ask = async (path: string, headers: Record<string, string>): Promise<[IncomingMessage, Buffer]> => {
    const [response] = (await once(get({ port: service.port, path, headers }), 'response')) as [IncomingMessage]
    return [response, Buffer.concat(await response.toArray())]
  }

  for (const path of ['/site/client.js', '/site/style.css', '/docs', '/']) {
    test(`${path} comes in the coding that the client accepts`, async () => {
      const Accept = 'text/html'
      const [plain, content] = await ask(path, { Accept })
      assert.equal(plain.headers['content-encoding'], undefined)
      for (const [accepted, coding] of [
        ['br', 'br'],
        ['gzip, deflate, br, zstd', 'br'],
        ['gzip;q=1, br;q=0.5', 'gzip'],
        ['GZIP', 'gzip'],
        ['*', 'br'],
        ['br;q=0, *', 'gzip'],
        ['br;q=0', undefined],
        ['', undefined],
        ['gzip;q=x', undefined],
      ] as const) {
        const [response, bytes] = await ask(path, { Accept, 'Accept-Encoding': accepted })
        assert.equal(response.statusCode, 200)
        assert.equal(response.headers['content-encoding'], coding, accepted)
        assert.match(response.headers.vary ?? '', /^Origin, (?:Accept, )?Accept-Encoding$/)
        assert.equal(response.headers['content-length'], String(bytes.length))
        const decoded = coding === 'br' ? brotliDecompressSync(bytes) : coding === 'gzip' ? gunzipSync(bytes) : bytes
        assert.ok(decoded.equals(content), accepted)
      }
    })
  }

  test('have an ETag for each coding, which counts for that coding alone', async () => {
    const path = '/site/client.js'
    const etags = new Set<string | undefined>()
    for (const accepted of ['identity', 'gzip', 'br']) {
      const [{ headers }] = await ask(path, { 'Accept-Encoding': accepted })
      etags.add(headers.etag)
      const known = { 'If-None-Match': headers.etag ?? '' }
      const [unchanged, body] = await ask(path, { 'Accept-Encoding': accepted, ...known })
      assert.deepEqual([unchanged.statusCode, unchanged.headers.etag, body.length], [304, headers.etag, 0])
      const [other] = await ask(path, { 'Accept-Encoding': accepted === 'br' ? 'gzip' : 'br', ...known })
      assert.equal(other.statusCode, 200)
    }
    assert.equal(etags.size, 3)
  })
})
