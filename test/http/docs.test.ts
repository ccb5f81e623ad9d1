// The reference over HTTP: what is served with Scalar and without, and that it costs nothing before somebody asks.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Client } from '../support/client.ts'
import { makeFolder } from '../support/folder.ts'
import { startServer } from '../support/program.ts'
import { installAlone } from '../support/published.ts'

/** Has a process, and its threads, write the name of every module of Scalar that they load. */
const tellLoads = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  import { writeSync } from 'node:fs'
  registerHooks({
    load(url, context, next) {
      if (url.includes('/@scalar/')) writeSync(1, 'loads ' + url + '\\n')
      return next(url, context)
    },
  })
`)}`

describe('the reference', () => {
  test('comes with the script of Scalar, which is loaded when it is asked for, and sent once to each browser', async () => {
    await using folder = await makeFolder()
    await using server = await startServer(folder.file('plants.db'), { before: ['--import', tellLoads] })
    const client = await Client.connect(server)
    const get = (target: string, headers?: Record<string, string>) =>
      client.request({ method: 'GET', target, ...(headers && { headers }) })
    const page = await get('/docs')
    assert.equal(page.status, 200)
    assert.equal(page.headers.get('content-type'), 'text/html')
    assert.match(page.body, /<script src="site\/scalar\.js"/)
    const policy = page.headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'/)
    assert.doesNotMatch(policy, /http|\*|eval|upgrade-insecure-requests/)
    assert.doesNotMatch(server.output.stdout, /^loads /m)

    const [script, again] = await Promise.all([get('/site/scalar.js'), get('/site/scalar.js')])
    assert.equal(script.status, 200)
    assert.equal(script.headers.get('content-type'), 'text/javascript')
    assert.match(script.body, /createApiReference/)
    assert.equal(again.body, script.body)
    assert.equal(server.output.stdout.match(/^loads .*fastify-api-reference/gm)?.length, 1)
    const etag = script.headers.get('etag') ?? ''
    for (const known of [etag, `W/${etag}`, `"another", ${etag}`, '*']) {
      assert.equal((await get('/site/scalar.js', { 'If-None-Match': known })).status, 304, known)
    }
    assert.equal((await get('/site/scalar.js', { 'If-None-Match': '"another"' })).status, 200)
    const head = await client.request({ method: 'HEAD', target: '/site/scalar.js' })
    assert.deepEqual([head.status, head.headers.get('etag')], [200, etag])
  })

  test('is our own page where Scalar is not installed', async () => {
    await using folder = await makeFolder()
    await using program = await installAlone()
    await using server = await startServer(folder.file('plants.db'), { launcher: program.file('bin/plantstore.js') })
    const client = await Client.connect(server)
    const page = await client.request({ method: 'GET', target: '/docs' })
    assert.match(page.body, /<script src="site\/reference\.js"/)
    assert.doesNotMatch(page.headers.get('content-security-policy') ?? '', /unsafe|http|\*|upgrade-insecure-requests/)
    for (const file of page.body.matchAll(/(?:src|href)="(site\/[^"]+)"/g)) {
      assert.equal((await client.request({ method: 'GET', target: `/${file[1]}` })).status, 200, file[0])
    }
    for (const file of ['scalar.js', 'docs.html', 'reference.html', 'index.html', '..%2Fpackage.json']) {
      const { status, body } = await client.request({ method: 'GET', target: `/site/${file}` })
      const { error, message } = JSON.parse(body)
      assert.deepEqual([status, error], [404, 40401], file)
      assert.ok(message.includes(file), message)
    }
  })
})
