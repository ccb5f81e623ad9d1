// The document as served: the file, with the URL of this server as the first of `servers`.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import { startSuite } from '../support/service.ts'

const yaml = await readFile(new URL('../../openapi.yaml', import.meta.url), 'utf8')
const json = await readFile(new URL('../../openapi.json', import.meta.url), 'utf8')
const { servers } = JSON.parse(json)

describe('the served document', async () => {
  const service = await startSuite()
  const get = (target: string, headers: Record<string, string>) => service.request({ method: 'GET', target, headers })

  for (const host of ['localhost:8080', '[::1]:3000', 'plants.example', "a.b!$&'()*+,;=%41:1", 'a%zz', 'a:99999']) {
    const isHost = URL.canParse(`http://${host}`)
    test(`asked for at ${host} has it as its first server: ${isHost}; else is the file, byte for byte`, async () => {
      const asked = { url: `http://${host}`, description: 'The server that this document was read from' }
      const expected = isHost ? [asked, ...servers] : servers
      for (const [type, text, read] of [
        ['json', json, (text: string) => JSON.parse(text)],
        ['yaml', yaml, (text: string) => parse(text)],
      ] as const) {
        const { headers, body } = await get(`/openapi.${type}`, { Host: host })
        assert.equal(headers.get('content-type'), `application/${type}`)
        assert.deepEqual(read(body), { ...read(text), servers: expected })
        assertHasInserted(body, text)
      }
    })
  }

  test('is the file where the file names the server that was asked, or no server was named', async () => {
    for (const headers of [{ Host: '127.0.0.1:3000' }, { Host: '' }, { Host: ':80' }]) {
      assert.equal((await get('/openapi.json', headers)).body, json)
      assert.equal((await get('/openapi.yaml', headers)).body, yaml)
    }
    await using connection = await service.open()
    connection.send('GET /openapi.json HTTP/1.0\r\n\r\n')
    assert.equal((await connection.answerTo('GET', '/openapi.json')).body, json)
  })

  test('goes by a target in full rather than by Host', async () => {
    const { body } = await get('http://garden.example:81/openapi.json?x', { Host: 'other.example' })
    assert.equal(JSON.parse(body).servers[0].url, 'http://garden.example:81')
  })
})

describe('a server with a public URL', async () => {
  const service = await startSuite({}, { publicUrl: 'https://plants.example/my/store/' })

  test('begins the links of its home page with its path', async () => {
    const { links } = JSON.parse((await service.request({ method: 'GET', target: '/' })).body)
    assert.equal(links.plants, '/my/store/plants')
    for (const link of Object.values<string>(links)) assert.match(link, /^\/my\/store\/[a-z.]+$/)
  })

  test('begins the servers of its document with it, whoever asks where', async () => {
    for (const Host of ['plants.example', '127.0.0.1:3000', '']) {
      const request = { method: 'GET', headers: { Host } }
      const fromJson = JSON.parse((await service.request({ ...request, target: '/openapi.json' })).body)
      const fromYaml = parse((await service.request({ ...request, target: '/openapi.yaml' })).body)
      const urls = fromJson.servers.map(({ url }: { url: string }) => url)
      assert.deepEqual(urls, ['https://plants.example/my/store', 'http://127.0.0.1:3000'])
      assert.deepEqual(fromYaml.servers, fromJson.servers)
    }
  })

  test('begins Location and Link with its path, and is itself asked without it', async () => {
    assert.equal((await service.create(1n, 'Monstera')).headers.get('location'), '/my/store/plants/1')
    assert.equal((await service.create(2n, 'Ficus')).status, 200)
    const page = await service.request({ method: 'GET', target: '/plants?limit=1' })
    assert.equal(page.headers.get('link'), '</my/store/plants?after=1&limit=1>; rel="next"')
    const changes = await service.request({ method: 'GET', target: '/changes' })
    assert.match(changes.headers.get('link') ?? '', /^<\/my\/store\/changes\?after=/)
    assert.equal((await service.request({ method: 'GET', target: '/my/store/plants/1' })).status, 404)
  })
})

/** Fails when a text is not another one with something inserted in one place, or nothing. */
function assertHasInserted(longer: string, text: string): void {
  let at = 0
  while (at < text.length && longer[at] === text[at]) at += 1
  assert.equal(longer.slice(0, at) + longer.slice(at + longer.length - text.length), text)
}
