// Listening elsewhere than on a port: Unix sockets and sockets from systemd; HTTPS, and its reload on SIGHUP.

import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { Agent as HttpAgent, type RequestOptions, request as requestHttp } from 'node:http'
import { Agent } from 'node:https'
import { connect, createServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { limits } from '../../src/limits.ts'
import { ask, listen } from '../support/answering.ts'
import { type CertificateFiles, expire, makeCertificate, noOpenssl } from '../support/certificate.ts'
import { exhaustiveOnFolder, type Folder, onFolder } from '../support/folder.ts'
import { noScript, startOnTerminal } from '../support/on-terminal.ts'
import { cleanEnvironment, launcher, type RunningServer, runHere, runProgram, startServer } from '../support/program.ts'
import { assertPrompt, until } from '../support/time.ts'

const hasCurl = spawnSync('curl', ['--version']).status === 0

const create = (token: string): RequestOptions => ({
  method: 'POST',
  path: '/plants',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
})
const plant = (id: number): string => `{"id":${id},"name":"Aloe vera"}`

describe('--listen unix:PATH', () => {
  onFolder('serves on a socket that is gone at the end', async (folder) => {
    const socketPath = folder.file('plants.sock')
    await using server = await startServer(folder.file('plants.db'), { args: ['--listen', `unix:${socketPath}`] })
    assert.match(server.output.stderr, new RegExp(`listens on unix:${socketPath}\n`))
    const agent = new HttpAgent({ keepAlive: true, maxSockets: 1 })
    for (const id of [1, 2]) {
      const answer = await ask({ socketPath, agent, ...create(server.token) }, plant(id))
      assert.deepEqual([answer.status, answer.body], [200, '{"name":"Aloe vera"}'])
    }
    assert.equal((await ask({ socketPath, path: '/openapi.json' })).status, 200)
    assert.equal(statSync(socketPath).mode & 0o777, 0o666, 'the folder says who may enter')
    agent.destroy()
    assert.equal(await server.stop(), 0)
    assert.ok(!existsSync(socketPath))
  })

  exhaustiveOnFolder('replaces a server that was killed, not one that runs, nor a file', async (folder) => {
    const socketPath = folder.file('plants.sock')
    const args = ['--listen', `unix:${socketPath}`]
    await using killed = await startServer(folder.file('plants.db'), { args })
    await killed.stop('SIGKILL')
    assert.ok(existsSync(socketPath))
    await using server = await startServer(folder.file('plants.db'), { args })
    assert.equal((await ask({ socketPath, path: '/livez' })).status, 200)
    const second = await runProgram(['serve', '--store', folder.file('other.db'), ...args])
    assert.deepEqual([second.status, /another server listens on \S+; stop it/.test(second.stderr)], [1, true])
    assert.equal((await ask({ socketPath, path: '/livez' })).status, 200, 'the first one goes on')
    const file = folder.file('precious.txt')
    writeFileSync(file, 'precious')
    const third = await runProgram(['serve', '--store', folder.file('other.db'), '--listen', `unix:${file}`])
    assert.deepEqual([third.status, /exists and is not a socket/.test(third.stderr)], [2, true])
    assert.equal(statSync(file).size, 'precious'.length)
    assert.equal(await server.stop(), 0)
  })
})

exhaustiveOnFolder('--listen refuses what it cannot listen on in one line', async (folder) => {
  for (const [where, expected] of [
    [`unix:${folder.file('missing/plants.sock')}`, /may not create the socket \S+, or its folder does not exist;/],
    [`unix:${folder.file('x'.repeat(200))}`, /whose path may have at most about 100 bytes/],
    ['fd:1', /fd:1 is not a socket to listen on; /],
    ['fd:77', /fd:77 is not a socket to listen on; /],
    ['plants.sock', /must be unix:PATH, fd:NUMBER, or none/],
  ] as const) {
    const { status, stderr } = await runProgram(['serve', '--store', folder.file('p.db'), '--listen', where])
    assert.equal(status, 2)
    assert.match(stderr, expected)
    assert.match(stderr, /^plantstore: [^\n]*\n$/)
  }
})

onFolder('--listen fd:NUMBER serves on a socket that was opened before it', async (folder) => {
  const opener = createServer()
  const port = await listen(opener)
  const { fd } = (opener as unknown as { _handle: { fd: number } })._handle
  const child = spawn(process.execPath, [launcher, 'serve', '--listen', 'fd:3', '--store', folder.file('plants.db')], {
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe', fd],
  })
  const exited = once(child, 'close')
  opener.close()
  let stderr = ''
  for await (const text of child.stderr?.setEncoding('utf8') ?? []) {
    stderr += text
    if (stderr.includes(`listens on http://127.0.0.1:${port}\n`)) break
  }
  assert.equal((await ask({ port, path: '/livez' })).status, 200)
  child.kill('SIGTERM')
  assert.deepEqual(await exited, [0, null])
})

describe('HTTPS', { skip: noOpenssl }, () => {
  /** A server with the certificate `first`, whose files may be replaced. */
  async function startTls(folder: Folder): Promise<RunningServer & { files: CertificateFiles; ca: string }> {
    const files = makeCertificate(folder, 'first')
    const args = ['--tls-cert', files.cert, '--tls-key', files.key]
    const server = await startServer(folder.file('plants.db'), { args })
    return Object.assign(server, { files, ca: readFileSync(files.cert, 'utf8') })
  }

  /** The name of the certificate that a new connection gets. */
  async function certificateOf(port: number): Promise<string> {
    const socket = connectTls({ port, rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    const name = socket.getPeerCertificate().subject.CN
    socket.destroy()
    return String(name)
  }

  onFolder('is served, also to many requests of one connection in order, and plain HTTP is not', async (folder) => {
    await using server = await startTls(folder)
    const { port, token, ca } = server
    assert.match(server.output.stderr, new RegExp(`listens on https://127.0.0.1:${port}\n`))
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (const id of [1, 2, 3]) {
      const answer = await ask({ port, ca, agent, ...create(token) }, plant(id))
      assert.deepEqual([answer.status, answer.body], [200, '{"name":"Aloe vera"}'])
    }
    const document = await ask({ port, ca, agent, path: '/openapi.json' })
    assert.ok(document.body.includes(`"url": "https://127.0.0.1:${port}"`), 'the document says https')
    agent.destroy()
    await assert.rejects(ask({ port, path: '/livez' }), { code: 'ECONNRESET' })

    const socket = connectTls({ port, ca, host: '127.0.0.1' })
    const answers = socket.setEncoding('latin1').toArray()
    const ids = Array.from({ length: 300 }, (_, index) => (index % 3) + 1)
    const get = (id: number): string =>
      `GET /plants/${id} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`
    const bytes = ids.map(get).join('')
    for (let at = 0; at < bytes.length; at += 7_001) socket.write(bytes.slice(at, at + 7_001))
    socket.end()
    const seen = Array.from((await answers).join('').matchAll(/"id":(\d)/g), ([, id]) => Number(id))
    assert.deepEqual(seen, ids, 'in order, and after the client has ended its side')
    assert.equal(await server.stop(), 0)
  })

  exhaustiveOnFolder('SIGHUP reloads the files for new connections; a bad pair changes nothing', async (folder) => {
    await using server = await startTls(folder)
    const { port, files, ca } = server
    const open = connectTls({ port, ca, host: '127.0.0.1' })
    await once(open, 'secureConnect')
    const askOpen = async (socket: TLSSocket): Promise<string> => {
      socket.write('GET /livez HTTP/1.1\r\nHost: plants\r\n\r\n')
      const [answer] = await once(socket, 'data')
      return String(answer).slice(0, 15)
    }
    assert.equal(await askOpen(open), 'HTTP/1.1 200 OK')
    const hangUp = async (expected: string): Promise<void> => {
      const before = server.output.stdout.length
      server.process.kill('SIGHUP')
      await until(expected, () => server.output.stdout.slice(before).includes(expected))
    }

    const second = makeCertificate(folder, 'second')
    copyFileSync(second.cert, files.cert)
    await hangUp('the key does not match the certificate')
    const warning = /"message":"keeping the current certificate: .*the key does not match the certificate"/
    await until('the warning is there, too', () => warning.test(server.output.stdout))
    assert.equal(await certificateOf(port), 'first')

    copyFileSync(second.key, files.key)
    await hangUp('"event":"certificateLoaded"')
    assert.equal(await certificateOf(port), 'second')
    assert.equal(await askOpen(open), 'HTTP/1.1 200 OK', 'the old connection goes on')

    writeFileSync(files.cert, '')
    await hangUp('has no \\"-----BEGIN CERTIFICATE-----\\"')
    writeFileSync(files.cert, '-----BEGIN CERTIFICATE-----\nnothing\n-----END CERTIFICATE-----\n')
    await hangUp('cannot be used')
    assert.equal(await certificateOf(port), 'second')
    open.destroy()
    assert.equal(await server.stop(), 0)
  })

  exhaustiveOnFolder('does not start with one file, missing files, or a pair that cannot be used', async (folder) => {
    const one = makeCertificate(folder, 'one')
    const two = makeCertificate(folder, 'two')
    const rsa = makeCertificate(folder, 'rsa', { kind: 'RSA' })
    const encrypted = folder.file('encrypted.key')
    spawnSync('openssl', ['pkey', '-in', one.key, '-aes128', '-passout', 'pass:secret', '-out', encrypted])
    for (const [flags, expected] of [
      [['--tls-cert', one.cert], /--tls-cert needs .*--tls-key FILE/],
      [['--tls-key', one.key], /--tls-key needs .*--tls-cert FILE/],
      [['--tls-cert', folder.file('none'), '--tls-key', one.key], /none does not exist/],
      [['--tls-cert', folder.path, '--tls-key', one.key], /is a folder; name a file/],
      [['--tls-cert', one.key, '--tls-key', one.cert], /one\.key has no "-----BEGIN CERTIFICATE-----"/],
      [['--tls-cert', one.cert, '--tls-key', two.key], /the key does not match the certificate/],
      [['--tls-cert', one.cert, '--tls-key', rsa.key], /the key does not match the certificate/],
      [['--tls-cert', rsa.cert, '--tls-key', one.key], /the key does not match the certificate/],
      [['--tls-cert', one.cert, '--tls-key', encrypted], /the key is encrypted/],
    ] as const) {
      const args = ['serve', '--port', '0', '--store', folder.file('plants.db'), ...flags]
      const { status, stderr } = await runHere(args)
      assert.equal(status, 2, stderr)
      assert.match(stderr, expected)
      assert.match(stderr, /^plantstore: [^\n]*\n$/)
    }
    assert.ok(!existsSync(folder.file('plants.db')), 'nothing was made')
  })

  onFolder('outlasts handshakes that fail, keeps none that do not end, and stops without them', async (folder) => {
    await using server = await startTls(folder)
    const { port, ca } = server
    const descriptors = (): number => readdirSync(`/proc/${server.process.pid}/fd`).length
    const before = descriptors()
    const open = async (): Promise<Socket> => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      await once(socket, 'connect')
      return socket
    }
    for (const bytes of ['GET / HTTP/1.1\r\n\r\n', '\x16'.repeat(300), Buffer.from('160301ffff01', 'hex')]) {
      const socket = await open()
      socket.end(bytes).resume()
      await once(socket, 'close', { signal: AbortSignal.timeout(15_000) })
    }
    for (const odd of [{ minVersion: 'TLSv1', maxVersion: 'TLSv1.1' } as const, { ALPNProtocols: ['h2'] }]) {
      const socket = connectTls({ port, rejectUnauthorized: false, ...odd })
      await assert.rejects(once(socket, 'secureConnect'))
    }
    // The server notices the end of some; others say nothing at all.
    for (let count = 0; count < 20; count += 1) (await open()).end()
    const silent = await open()
    assert.equal((await ask({ port, ca, path: '/livez' })).status, 200)
    await until('they are closed', () => descriptors() <= before + 2)
    const startedMs = performance.now()
    assert.equal(await server.stop(), 0)
    assertPrompt(startedMs, limits.headersMsMax / 2)
    silent.destroy()
  })

  exhaustiveOnFolder('an expired certificate is served, with a warning', async (folder) => {
    const { cert, key } = makeCertificate(folder, 'old')
    expire({ cert, key })
    const args = ['--tls-cert', cert, '--tls-key', key]
    await using server = await startServer(folder.file('plants.db'), { args })
    assert.match(server.output.stdout, /"message":"\S+old\.crt expired at \d{4}-/)
  })
})

describe('what the first start suggests', { skip: noScript }, () => {
  for (const what of ['a Unix socket', 'HTTPS']) {
    const lacks = !hasCurl || (what === 'HTTPS' && noOpenssl)
    exhaustiveOnFolder(`works as it stands: ${what}`, { skip: lacks && 'no curl or openssl here' }, async (folder) => {
      const files = what === 'HTTPS' ? makeCertificate(folder, 'first') : undefined
      const flags = files
        ? `--port 0 --tls-cert ${files.cert} --tls-key ${files.key}`
        : `--listen unix:${folder.file('s')}`
      const command = `exec ${process.execPath} ${launcher} serve --store ${folder.file('plants.db')} ${flags}`
      await using terminal = startOnTerminal(command)
      const shown = await terminal.shows(/To create a token/)
      const curl = /^ {2}(curl .*)$/m.exec(shown)?.[1] ?? assert.fail(shown)
      const answer = execFileSync('sh', ['-c', `${curl} --silent`], { encoding: 'utf8' })
      assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
    })
  }
})

describe('SIGHUP', () => {
  // Under npm, the server learns twice that it is on its own, the second time at a tick of a timer.
  const npm = { npm_lifecycle_event: 'start' }
  const cases = [[{}, 0], ...[0, 0.25, 0.5, 0.75].map((ticks) => [npm, ticks] as const)] as const
  for (const [environment, ticks] of cases) {
    const under = Object.keys(environment).map((name) => `, ${name}, ${ticks} ticks later`)
    exhaustiveOnFolder(`of a closed terminal ends it as SIGTERM does${under}`, { skip: noScript }, async (folder) => {
      const log = folder.file('log')
      const command = `exec ${process.execPath} ${launcher} serve --port 0 --store ${folder.file('plants.db')} > ${log}`
      await using terminal = startOnTerminal(command, { env: { ...cleanEnvironment(), ...environment } })
      const [, port, token] =
        /http:\/\/127\.0\.0\.1:(\d+)\/#token=(\S+)/.exec(await terminal.shows(/To create a token/)) ?? []
      const unfinished = requestHttp({ ...create(String(token)), port, host: '127.0.0.1' })
      unfinished.setHeader('content-length', plant(7).length)
      unfinished.setHeader('expect', '100-continue')
      unfinished.flushHeaders()
      await once(unfinished, 'continue')
      await sleep(ticks * limits.parentCheckMs)
      terminal.process.kill('SIGKILL')
      const logged = (event: string): boolean => readFileSync(log, 'utf8').includes(`"event":"${event}"`)
      await until('the server stops', () => logged('serverStopping'))
      await sleep(2 * limits.parentCheckMs + limits.sameSignalMs)
      unfinished.end(plant(7))
      const [response] = await once(unfinished, 'response')
      assert.equal(response.statusCode, 200)
      await until('the server has stopped', () => logged('serverStopped'))
    })
  }
})

describe('plain HTTP', () => {
  const noIpv6 = networkInterfaces()['lo']?.every(({ family }) => family !== 'IPv6') && 'there is no IPv6 here'
  exhaustiveOnFolder('is served at an IPv6 address, as URLs have it, too', { skip: noIpv6 }, async (folder) => {
    for (const host of ['::1', '[::1]']) {
      await using server = await startServer(folder.file('plants.db'), { args: ['--host', host] })
      assert.match(server.url, /^http:\/\/\[::1\]:\d+$/)
      assert.equal((await fetch(`${server.url}/livez`)).status, 200)
      assert.equal(await server.stop(), 0)
    }
  })

  exhaustiveOnFolder('on an address that others can reach is warned of, by name', async (folder) => {
    await using server = await startServer(folder.file('plants.db'), { args: ['--host', '0.0.0.0'] })
    const warning = /"message":"http:\/\/0\.0\.0\.0:\d+ is plain HTTP: .*--tls-cert and --tls-key/g
    assert.equal(server.output.stdout.match(warning)?.length, 1)
    await using local = await startServer(folder.file('local.db'), { args: ['--host', 'localhost'] })
    assert.doesNotMatch(local.output.stdout + local.output.stderr, /plain HTTP/)
  })
})
