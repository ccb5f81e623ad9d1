// The reference over HTTP: its page, and the files that it loads.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startService } from '../support/service.ts'

test('the reference loads only files of its server, which are sent once to each browser', async () => {
  await using service = await startService({})
  const ask = (method: string, target: string, headers: Record<string, string> = {}) =>
    service.client.request({ method, target, headers })
  const page = await ask('GET', '/docs')
  assert.equal(page.headers.get('content-type'), 'text/html')
  const policy = page.headers.get('content-security-policy') ?? ''
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'/)
  assert.doesNotMatch(policy, /unsafe|http|\*|upgrade-insecure-requests/)
  const files = [...page.body.matchAll(/(?:src|href)="(site\/[^"]+)"/g)].map(([, file]) => `/${file}`)
  assert.ok(files.includes('/site/reference.js'))
  for (const file of files) {
    const { status, headers } = await ask('GET', file)
    assert.equal(status, 200, file)
    const etag = headers.get('etag') ?? ''
    for (const known of [etag, `W/${etag}`, `"another", ${etag}`, '*']) {
      assert.equal((await ask('GET', file, { 'If-None-Match': known })).status, 304, known)
    }
    assert.equal((await ask('GET', file, { 'If-None-Match': '"another"' })).status, 200)
    const head = await ask('HEAD', file)
    assert.deepEqual([head.status, head.headers.get('etag')], [200, etag])
  }
  for (const file of ['reference.html', 'index.html', '..%2Fpackage.json']) {
    const { status, body } = await ask('GET', `/site/${file}`)
    const { error, message } = JSON.parse(body)
    assert.deepEqual([status, error], [404, 40401], file)
    assert.ok(message.includes(file), message)
  }
})
