// The pages over HTTP: their files, of which scripts are TypeScript in a checkout; content codings; HTML error pages for
// browsers that open an API URL; and the choice of a media type by Accept.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { glob, readFile, writeFile } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { matchesGlob } from 'node:path'
import { describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { prefers } from '../../src/http/negotiation.ts'
import { makeFolder } from '../support/folder.ts'
import { root } from '../support/readme.ts'
import { startSuite } from '../support/service.ts'
import { importClient, loadScripts } from '../support/site.ts'

const folder = `${root}/site`
const sources = await Array.fromAsync(glob('*.ts', { cwd: folder }))

/** Whether Node.js takes a text for a module of JavaScript. */
async function isModule(text: string): Promise<boolean> {
  await using folder = await makeFolder()
  await writeFile(folder.file('script.mjs'), text)
  return spawnSync(process.execPath, ['--check', folder.file('script.mjs')]).status === 0
}

describe('the files of the pages', async () => {
  const { url, port, token } = await startSuite()

  const ask = async (path: string, headers: Record<string, string>): Promise<[IncomingMessage, Buffer]> => {
    const [response] = (await once(get({ port, path, headers }), 'response')) as [IncomingMessage]
    return [response, Buffer.concat(await response.toArray())]
  }

  test('are scripts without types', async () => {
    const read = async (name: string): Promise<string> => (await fetch(`${url}/site/${name}`)).text()
    const scripts = await loadScripts(url)
    assert.deepEqual([...scripts.keys()].toSorted(), ['client.js', 'home.js', 'reference.js'])
    for (const [name, script] of scripts) {
      assert.ok(await isModule(script), name)
      for (const [, imported = ''] of script.matchAll(/^import .*'(.+)'/gm)) assert.equal(imported, './client.js')
    }
    assert.ok(sources.length > 10)
    const all = [...scripts.values()].join('\n')
    for (const source of sources.filter((name) => !scripts.has(name.replace('.ts', '.js')))) {
      const scope = `const $${source.replace('.ts', '').replaceAll('-', '_')} = (() => {`
      assert.ok(all.includes(scope), `${source} is in no script`)
    }
    assert.ok(!(await isModule(await readFile(`${folder}/form.ts`, 'utf8'))))
    for (const name of ['home.ts', 'form.js', 'tsconfig.json', 'reference.html', '..%2Fpackage.json']) {
      assert.match(await read(name), /"error":40401/)
    }
    const policy = (await fetch(`${url}/docs`)).headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'/)
    assert.doesNotMatch(policy, /unsafe|http|\*|upgrade-insecure-requests/)
  })

  test('are in the package', async () => {
    const { files } = JSON.parse(await readFile(`${root}/package.json`, 'utf8')) as { files: readonly string[] }
    const served = await Array.fromAsync(glob('*.{html,css,svg}', { cwd: folder }), (name) => `site/${name}`)
    assert.ok(served.includes('site/logo.svg'))
    const missing = served.filter((path) => !files.some((pattern) => matchesGlob(path, pattern)))
    assert.deepEqual(missing, [])
  })

  test('come with the home page in less than 60 kB', async () => {
    const names = await loadScripts(url, '/')
    let bytes = 0
    for (const path of ['/', ...['style.css', 'logo.svg', ...names.keys()].map((name) => `/site/${name}`)]) {
      bytes += (await ask(path, { accept: 'text/html', 'accept-encoding': 'gzip' }))[1].length
    }
    assert.ok(bytes < 60_000 && bytes > 20_000, `${bytes} bytes`)
  })

  test('have the client as one module, which works by itself', async () => {
    const { PlantStoreClient, PlantStoreError, ...others } = await importClient(url)
    assert.deepEqual(Object.keys(others), [])
    const store = new PlantStoreClient({ url, token })
    await store.createPlant({ id: 2n ** 53n + 1n, name: 'Rosa' })
    assert.equal((await store.getPlant(2n ** 53n + 1n)).id, 2n ** 53n + 1n)
    await assert.rejects(store.getPlant(1), PlantStoreError)
  })

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

  test('are not confused with the links, which depend on the token, by what caches them', async () => {
    for (const more of [{}, { Authorization: `Bearer ${token}` }]) {
      const [{ headers }] = await ask('/', { Accept: 'application/json', ...more })
      assert.equal(headers.vary, 'Origin, Accept, Accept-Encoding, Authorization')
      assert.equal(headers['cache-control'], 'Authorization' in more ? 'private, no-cache' : undefined)
    }
  })

  test('have an ETag for each coding, which counts for that coding alone', async () => {
    const path = '/site/client.js'
    const etags = new Set()
    for (const accepted of ['identity', 'gzip', 'br']) {
      const [{ headers }] = await ask(path, { 'Accept-Encoding': accepted })
      etags.add(headers.etag)
      for (const coding of ['identity', 'gzip', 'br']) {
        const known = { 'Accept-Encoding': coding, 'If-None-Match': headers.etag ?? '' }
        assert.equal((await ask(path, known))[0].statusCode, coding === accepted ? 304 : 200)
      }
    }
    assert.equal(etags.size, 3)
  })
})

describe('what a browser gets', async () => {
  const { url, port } = await startSuite()

  test('an error page links to the same plant or search on the home page, below any path', async () => {
    const open = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`${url}${path}`, { headers: { accept: 'text/html', ...headers } })
      return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
    }
    for (const [path, status, link] of [
      ['/plants', 401, './'],
      ['/plants?tag=a%22%3Cb%3E&name=x', 401, './?tag=a%22%3Cb%3E&amp;name=x'],
      ['/plants/7', 401, '../?plant=7'],
      ['/plants/-9', 401, '../?plant=-9'],
      ['/plants/x', 401, '../'],
      ['/changes', 401, './'],
      ['/a/b/c', 404, '../../'],
      ['/plants/7/', 404, '../../'],
      ['/site/none.css', 404, '../'],
      ['/%3Cscript%3E"<b>', 404, './'],
    ] as const) {
      const { status: got, type, text } = await open(path)
      assert.deepEqual([got, type], [status, 'text/html'], path)
      assert.ok(text.includes(`<a class="button" href="${link}">`), `${path}: ${text}`)
      assert.doesNotMatch(text.replace('<b>Plant Store</b>', ''), /<script|<b>/)
    }
    assert.match((await open('/plants/7', { authorization: 'Bearer x' })).text, /^\{"error":40/)
  })

  test('a target that is not a path also gets a page', async () => {
    const socket = connect(port, '127.0.0.1')
    socket.end('GET * HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n')
    assert.match(`${await socket.toArray()}`, /^HTTP\/1\.1 404 .*<a class="button" href="\.\/">/s)
  })

  test('GET / refuses a token that the server does not know, but shows a browser its page', async () => {
    // A proxy may add a token of its own to the requests of a browser.
    for (const [accept, status] of [
      ['application/json', 401],
      ['text/html', 200],
    ] as const) {
      const response = await fetch(`${url}/`, { headers: { authorization: 'Bearer plt_unknown', accept } })
      assert.deepEqual([response.status, response.headers.get('content-type')], [status, accept])
    }
  })

  test('a media type is chosen if it is named, acceptable, and weighs as much as JSON', () => {
    const chosen = ['application/xml, TEXT/HTML;q=0.1', 'text/html;level=1;q=0.5, */*', 'text/html, application/json']
    const others = ['', '*/*', 'text/*', 'text/html;q=0', 'text/htmlx', 'application/json, text/html;q=0.9', undefined]
    for (const accept of chosen) assert.ok(prefers('text/html', accept), accept)
    for (const accept of others) assert.ok(!prefers('text/html', accept), `${accept}`)
  })
})
