// nginx and HAProxy with the files of deploy/: the requests that they forward, and the client that they report.

import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { describe } from 'node:test'
import type { ServiceEvent } from '../../src/domain/events.ts'
import { startProxy } from '../http/framing/proxies.ts'
import { ask, listen } from '../support/answering.ts'
import { exhaustiveOnFolder, type Folder, onFolder } from '../support/folder.ts'
import { serveHere } from '../support/service.ts'
import { until } from '../support/time.ts'
import { belowPath, deployedProxy, type ProxyName, type ProxyParts, proxyNames } from './files.ts'
import { missingFor } from './stops.ts'

type Init = { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string }

interface Parts {
  readonly name: ProxyName
  readonly folder: Folder
  readonly publicUrl: string
  readonly change?: ProxyParts['change']
  /** The port of another server that the proxy has first. */
  readonly mutePort?: number
}

/** Starts a server behind a proxy, and gives what asks it as a client with a token does. */
async function start(stack: AsyncDisposableStack, { name, folder, publicUrl, change = {}, mutePort }: Parts) {
  const server = stack.use(await serveHere(folder.file('plants.db'), {}, { trustProxy: 'loopback', publicUrl }))
  const address = `127.0.0.1:${server.port}`
  const first = mutePort === undefined ? address : `127.0.0.1:${mutePort}`
  const { kind, ca } = await deployedProxy(name, { folder, servers: [first, address], change })
  const proxy = stack.use(await startProxy(kind, server.port))
  const askProxy = (target: string, { method = 'GET', headers = {}, body }: Init = {}) => {
    const fields = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json', ...headers }
    // Another address than that of the proxy, which is believed.
    const own = { port: proxy.port, localAddress: '127.0.0.9', agent: false, checkServerIdentity: () => undefined }
    return ask({ ...own, ca, method, path: target, headers: fields }, body)
  }
  return { server, proxy, ask: askProxy }
}

/** A server that is always ready, and closes the connection of every other request without an answer. */
async function startMute(stack: AsyncDisposableStack): Promise<{ readonly port: number; readonly heads: string[] }> {
  const heads: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (bytes) => {
      const isCheck = bytes.includes('GET /readyz ')
      if (!isCheck) heads.push(bytes.toString('latin1'))
      socket.end(isCheck ? 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n' : '')
    })
  })
  stack.defer(() => void server.close())
  return { port: await listen(server), heads }
}

describe('HAProxy of deploy/, whose first server closes connections without an answer', {
  skip: missingFor('HAProxy') ?? false,
}, () => {
  const body = '{"id":1,"name":"Rose"}'
  const keyed = { method: 'POST', target: '/plants', body, headers: { 'idempotency-key': 'k' } }
  for (const [title, { target = '/plants/1', ...init }, isRepeated] of [
    ['a read', { target: '/plants/1' }, true],
    ['a create with a key', keyed, true],
    ['a create without one', { method: 'POST', target: '/plants', body }, false],
    ['a replace', { method: 'PUT', body }, false],
    ['a delete', { method: 'DELETE' }, false],
  ] as const) {
    exhaustiveOnFolder(`${isRepeated ? 'sends' : 'never sends'} ${title} to the next one`, async (folder) => {
      await using stack = new AsyncDisposableStack()
      const mute = await startMute(stack)
      const { ask } = await start(stack, { name: 'HAProxy', folder, publicUrl: 'none', mutePort: mute.port })
      assert.equal((await ask(keyed.target, keyed)).status, 200)
      mute.heads.length = 0
      const statuses: (number | undefined)[] = []
      for (let round = 0; round < 8; round += 1) statuses.push((await ask(target, init)).status)
      assert.ok(mute.heads.length > 0, 'requests came to the server that does not answer')
      const unanswered = statuses.filter((status) => status === 502).length
      assert.equal(unanswered, isRepeated ? 0 : mute.heads.length, statuses.join())
      if (isRepeated) assert.deepEqual(statuses, Array(8).fill(200))
    })
  }
})

for (const name of proxyNames) {
  describe(`${name} of deploy/`, { skip: missingFor(name) ?? false }, () => {
    onFolder('passes on requests and answers, with links as long as they get', async (folder) => {
      await using stack = new AsyncDisposableStack()
      const { ask, proxy } = await start(stack, { name, folder, publicUrl: 'https://plants.example' })
      const plantName = '\u{1f335}'.repeat(1_024)
      for (const id of [1, 2]) {
        const created = await ask('/plants', { method: 'POST', body: JSON.stringify({ id, name: plantName }) })
        assert.deepEqual([created.status, created.headers['location']], [200, `/plants/${id}`])
        assert.equal(created.headers['strict-transport-security'], 'max-age=31536000')
        const requestId = String(created.headers['x-request-id'])
        const isLogged = (line: string): boolean => line.includes(requestId) && line.includes('POST /plants')
        await until('the proxy logs the id of the request', async () => (await proxy.seen()).some(isLogged))
      }
      let target = `/plants?limit=1&name=${encodeURIComponent(plantName)}`
      for (const id of [1, 2]) {
        const page = await ask(target)
        assert.equal(page.status, 200)
        assert.equal(JSON.parse(page.body)[0]?.id, id)
        target = /<(.*)>/.exec(String(page.headers['link'] ?? ''))?.[1] ?? ''
      }
      assert.equal(target, '')
      const tooLarge = await ask('/plants', { method: 'POST', body: 'x'.repeat(200_000) })
      assert.deepEqual([tooLarge.status, JSON.parse(tooLarge.body).error], [413, 41301], 'the refusal of the server')
      assert.match((await ask('/openapi.json')).body, /"url": "https:\/\/plants\.example"/)
    })

    onFolder('says whose a request is, whatever a client says of itself', async (folder) => {
      await using stack = new AsyncDisposableStack()
      const { ask, server } = await start(stack, { name, folder, publicUrl: 'none' })
      const forged = { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'gopher', forwarded: 'for=203.0.113.7' }
      assert.equal((await ask('/plants/17')).status, 404)
      assert.equal((await ask('/plants/18', { headers: forged })).status, 404)
      for (const path of ['/plants/17', '/plants/18']) {
        const events = (): ServiceEvent[] => server.events.filter((event) => 'path' in event && event.path === path)
        await until('the request has finished', () => events().length > 0)
        assert.match(JSON.stringify(events()), /127\.0\.0\.9/)
        assert.doesNotMatch(JSON.stringify(events()), /203\.0\.113\.7/)
      }
      // Where no --public-url says it, the document names the address that the client asked.
      const { body } = await ask('/openapi.json', { headers: { ...forged, host: 'garden.example' } })
      assert.match(body, /"url": "https:\/\/garden\.example"/)
    })

    onFolder('serves below a path', async (folder) => {
      await using stack = new AsyncDisposableStack()
      const publicUrl = 'https://plants.example/store'
      const { ask } = await start(stack, { name, folder, publicUrl, change: belowPath[name] })
      const created = await ask('/store/plants', { method: 'POST', body: '{"id":1,"name":"Rose"}' })
      assert.deepEqual([created.status, created.headers['location']], [200, '/store/plants/1'])
      assert.equal((await ask('/store/plants/1')).body, '{"id":1,"name":"Rose"}')
      assert.equal((await ask('/store/plants?limit=5')).status, 200)
      const { links } = JSON.parse((await ask('/store/')).body) as { links: { health: string } }
      assert.equal((await ask(links.health)).status, 200)
      // People type the path without its slash, and other programs of the host keep their own paths.
      const entered = await ask('/store')
      assert.equal(entered.status, 301)
      assert.match(String(entered.headers['location']), /\/store\/$/)
      for (const path of ['/plants/1', '/', '/storeroom/plants/1']) {
        const outside = await ask(path)
        assert.deepEqual([outside.status, outside.headers['x-request-id']], [404, undefined], path)
        assert.equal(outside.headers['strict-transport-security'], 'max-age=31536000')
      }
    })
  })
}
