// `plantstore plant` against a running server.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, describe, test } from 'node:test'
import { PlantStoreClient } from '../../src/client/client.ts'
import { hasOpenssl, makeCertificate } from '../support/certificate.ts'
import { makeFolder } from '../support/folder.ts'
import { cleanEnvironment, type Finished, runHere, runProgram, startProgram, startServer } from '../support/program.ts'
import { exhaustive } from '../support/ring.ts'
import { until } from '../support/time.ts'

describe('plantstore plant', async () => {
  const folder = await makeFolder()
  const server = await startServer(folder.file('plants.db'))
  const env = { ...cleanEnvironment(), PLANTSTORE_URL: server.url, PLANTSTORE_TOKEN: server.token }
  // Commander reads variables of the process itself.
  Object.assign(process.env, env)
  const plant = (...args: string[]): Promise<Finished> => runHere(['plant', ...args], { environment: env })

  after(async () => {
    await server[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
  })

  test('a plant is created, read, replaced and deleted, its id exact', async () => {
    assert.equal((await plant('create', '9223372036854775807', 'Ficus 🌿', '--tag', 'fig')).status, 0)
    assert.equal((await plant('create', '--', '-5', 'Olea')).status, 0)
    assert.equal(
      (await plant('get', '9223372036854775807')).stdout,
      '{"id":9223372036854775807,"name":"Ficus 🌿","tag":"fig"}\n',
    )
    assert.equal((await plant('replace', '9223372036854775807', 'Ficus lyrata')).status, 0)
    assert.equal(
      (await plant('list')).stdout,
      '{"id":-5,"name":"Olea"}\n{"id":9223372036854775807,"name":"Ficus lyrata"}\n',
    )
    assert.equal(
      (await plant('list', '--name', 'ficus', '--limit', '1')).stdout,
      '{"id":9223372036854775807,"name":"Ficus lyrata"}\n',
    )
    const first = await plant('list', '--limit', '1')
    assert.match(first.stderr, /^There are more plants; use --after -5 or --all\n$/)
    assert.equal((await plant('list', '--limit', '1', '--all')).stdout.split('\n').length, 3)
    assert.equal((await plant('delete', '--', '-5')).status, 0)
    assert.equal((await plant('get', '--', '-5')).status, 1)
  })

  test('what is wrong with an id, or with no token, is said in terms of the command', async () => {
    for (const id of ['007', '1e3', 'seven', '9223372036854775808']) {
      const { status, stderr } = await plant('create', id, 'Ilex')
      assert.equal(status, 1)
      assert.match(stderr, new RegExp(`^plantstore: 40002: id: must be an integer .*${id}"?\n$`))
    }
    const withoutToken = await runHere(['plant', 'list'], { environment: { ...env, PLANTSTORE_TOKEN: '' } })
    assert.equal(withoutToken.status, 2)
    assert.match(withoutToken.stderr, /needs an access token: set PLANTSTORE_TOKEN, or give one with --token\n$/)
  })

  exhaustive.test('behind a proxy that takes the path of a public URL away, every page is listed', async () => {
    const proxy = createServer(async ({ url = '', headers }, response) => {
      const { authorization = '' } = headers
      const answer = await fetch(server.url + url.replace(/^\/store/, ''), { headers: { authorization } })
      // As a server that is started with --public-url says it.
      const link = answer.headers.get('link')?.replace('<', '</store')
      response.writeHead(url.startsWith('/store/plants?') ? answer.status : 404, {
        'Content-Type': 'application/json',
        ...(link !== undefined && { Link: link }),
      })
      response.end(await answer.text())
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const { port } = proxy.address() as AddressInfo
    for (const id of ['71', '72', '73']) assert.equal((await plant('create', id, 'Ilex', '--tag', 'proxied')).status, 0)
    const list = ['list', '--tag', 'proxied', '--limit', '1', '--all', '--url', `http://127.0.0.1:${port}/store`]
    const { stdout, stderr } = await plant(...list)
    proxy.close()
    assert.equal(stderr, '')
    assert.deepEqual(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id),
      [71, 72, 73],
    )
  })

  test('JSON on a terminal has escapes for what a terminal would obey, and says so once', async () => {
    const plants = new PlantStoreClient({ url: server.url, token: server.token })
    for (const id of [61, 62]) await plants.createPlant({ id, name: '\u202egpj.exe\u009b2J\u007f', tag: 'nasty' })
    const access = ['--url', server.url, '--token', server.token]
    const list = ['plant', 'list', '--json', '--tag', 'nasty', '--limit', '1', '--all', ...access]
    const raw = '{"id":61,"name":"\u202egpj.exe\u009b2J\u007f","tag":"nasty"}\n'
    const escaped = '{"id":61,"name":"\\u202egpj.exe\\u009b2J\\u007f","tag":"nasty"}\n'
    const stderr = 'Control characters are shown as escapes, such as \\u001b; files and pipes get them unchanged\n'
    const both = (text: string): string => text + text.replace('61', '62')
    assert.deepEqual(await runHere(list), { status: 0, stdout: both(raw), stderr: '' })
    assert.deepEqual(await runHere(list, { isTTY: true }), { status: 0, stdout: both(escaped), stderr })
    const get = ['plant', 'get', '61', '--json', ...access]
    assert.deepEqual(await runHere(get, { isTTY: true }), { status: 0, stdout: escaped, stderr })
  })

  test('get --etag prints what --if-match takes, and nothing else', async () => {
    assert.equal((await plant('create', '81', 'Ilex')).status, 0)
    const { stdout, stderr, status } = await plant('get', '81', '--etag')
    assert.deepEqual([status, stderr], [0, ''])
    assert.match(stdout, /^"\S+"\n$/)
    const etag = stdout.trim()
    assert.equal((await plant('replace', '81', 'Ilex aquifolium', '--if-match', etag)).status, 0)
    assert.match((await plant('delete', '81', '--if-match', etag)).stderr, /^plantstore: 41201: /)
    assert.match((await plant('get', '82', '--etag')).stderr, /^plantstore: 40402: /)
  })

  exhaustive.test(
    'a certificate that is not trusted is told with what to do about it',
    {
      skip: !hasOpenssl && 'there is no openssl here',
    },
    async () => {
      await using folder = await makeFolder()
      const { key, cert } = makeCertificate(folder, 'server', { altName: 'DNS:localhost' })
      const options = { key: await readFile(key), cert: await readFile(cert) }
      const secure = createSecureServer(options, (_request, response) =>
        response.setHeader('Content-Type', 'application/json').end('[]'),
      )
      secure.listen(0, '127.0.0.1')
      await once(secure, 'listening')
      const { port } = secure.address() as AddressInfo
      const list = (host: string, env: NodeJS.ProcessEnv = {}) =>
        runProgram(['plant', 'list', '--url', `https://${host}:${port}`], { env: { ...cleanEnvironment(), ...env } })
      try {
        const untrusted = await list('localhost')
        assert.match(untrusted.stderr, /cannot be reached: .*; set NODE_EXTRA_CA_CERTS to a file with the certificate/)
        assert.equal((await list('localhost', { NODE_EXTRA_CA_CERTS: cert })).status, 0)
        const misnamed = await list('127.0.0.1', { NODE_EXTRA_CA_CERTS: cert })
        assert.match(misnamed.stderr, /; use a host name from its certificate in the URL$/m)
      } finally {
        secure.close()
      }
    },
  )

  test('a refusal is shown in the words of the server', async () => {
    assert.equal((await plant('get', '424242')).stderr, 'plantstore: 40402: id: there is no plant 424242\n')
    assert.match((await plant('get', 'seven')).stderr, /^plantstore: 40005: id: must be an integer .*, got "seven"\n$/)
    assert.match(
      (await plant('create', 'seven', 'n')).stderr,
      /^plantstore: 40002: id: must be an integer .*, got "seven"\n$/,
    )
    assert.match(
      (await plant('delete', '9223372036854775807', '--if-match', '"x"')).stderr,
      /^plantstore: 41201: If-Match: /,
    )
    assert.match(
      (await plant('list', '--limit', '0')).stderr,
      /^plantstore: 40005: limit: must be an integer from 1 to 1000, got 0\n$/,
    )
    assert.match(
      (await plant('list', '--token', 'plt_wrong')).stderr,
      /^plantstore: http:\/\/\S+ answered 40102: Authorization: the token is unknown/,
    )
  })

  test('what is no token is misuse, and is not shown', async () => {
    const { status, stderr } = await plant('list', '--token', 'secret\nvalue')
    assert.equal(status, 2)
    assert.doesNotMatch(stderr, /secret/)
    assert.equal((await plant('list', '--url', 'nowhere')).status, 2)
  })

  test('a server of another kind is one clear line', async () => {
    const answers = ['<html>', '{}', '{"message":', '[1]']
    for (const [index, text] of answers.entries()) {
      const other = createServer((_request, response) =>
        response.setHeader('Content-Type', index === 0 ? 'text/html' : 'application/json').end(text),
      )
      other.listen(0, '127.0.0.1')
      await once(other, 'listening')
      const { port } = other.address() as AddressInfo
      const { stderr, status } = await plant('list', '--url', `http://127.0.0.1:${port}`)
      other.close()
      if (text === '[1]') continue
      assert.equal(status, 1)
      assert.match(stderr, /^plantstore: (?:http:\S+ did not answer|the answer of http:\S+ was cut short).*\n$/)
    }
  })

  test('changes are printed as they happen, until a signal, and also after the server was away', async () => {
    const { process: child, finished } = startProgram(['plant', 'watch'], { env })
    let seen = ''
    child.stdout.on('data', (text: Buffer) => {
      seen += text
    })
    // The watch begins with the changes of now, so that the first may be missed.
    let id = 100
    await until('the first change', async () => {
      id += 1
      assert.equal((await plant('create', String(id), 'Watched 🌿', '--tag', 'w')).status, 0)
      return seen !== ''
    })
    assert.equal((await plant('delete', String(id))).status, 0)
    await until('the delete', () => seen.includes('deleted'))
    child.kill('SIGINT')
    assert.deepEqual((await finished).status, 0)
    const changes = seen
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      changes.slice(-2).map(({ kind, plant: { name, tag } }) => [kind, name, tag]),
      [
        ['created', 'Watched 🌿', 'w'],
        ['deleted', 'Watched 🌿', 'w'],
      ],
    )
    const all = startProgram(['plant', 'watch', '--all', '--kind', 'deleted', '--after', changes[0].position], { env })
    await once(all.process.stdout, 'data')
    all.process.kill('SIGTERM')
    assert.match(
      (await all.finished).stdout,
      /^\{"position":"[^"]+","time":"[^"]+","kind":"deleted","plant":\{"id":\d+,/,
    )
    const gone = await plant('watch', '--after', '7-1')
    assert.deepEqual([gone.status, /^plantstore: 41001: the log does not /.test(gone.stderr)], [1, true])
    const away = startProgram(['plant', 'watch', '--url', 'http://127.0.0.1:9'], { env })
    const [said] = await once(away.process.stderr, 'data')
    assert.match(String(said), /cannot be reached: .*; trying again\n$/)
    away.process.kill('SIGINT')
    await away.finished
  })

  test('a server that is not there is one clear line', async () => {
    const { status, stderr } = await plant('list', '--url', 'http://127.0.0.1:9')
    assert.equal(status, 1)
    assert.match(stderr, /^plantstore: http:\/\/127\.0\.0\.1:9 cannot be reached: .*; is the server running there\?\n$/)
    const { stderr: insecure } = await plant('list', '--url', server.url.replace('http:', 'https:'))
    assert.match(insecure, /cannot be reached: wrong version number; if the server uses plain HTTP, begin the URL/)
  })
})
