// `plantstore verify` of servers that know no operation but the one that is specified, and of some that know none.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createSocketServer, type Server } from 'node:net'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { RowName, VerifyReport } from '../../verify/results.ts'
import { verify as verifyRows } from '../../verify/verify.ts'
import { listen as listenAt } from '../support/answering.ts'
import { makeCertificate, noOpenssl } from '../support/certificate.ts'
import { onFolder } from '../support/folder.ts'
import { cleanEnvironment, type Finished, runHere, runProgram } from '../support/program.ts'
import { exhaustive } from '../support/ring.ts'

/** A server of the sample document in a few lines: exact ids, one plant for each, its answers in chunks. */
function exactServer(): RequestListener {
  return smallServer((text) => {
    const plant = JSON.parse(text)
    const id = /"id":(-?\d+)[,}]/.exec(text)?.[1]
    return { ...plant, key: typeof plant.id === 'number' && id !== undefined ? id : undefined }
  })
}

/** The same with ids as JSON.parse rounds them. */
function roundingServer(options: SmallServerOptions): RequestListener {
  const parse = (text: string) => {
    const plant = JSON.parse(text)
    return { ...plant, key: Number.isInteger(plant.id) && !/\d\.\d/.test(text) ? plant.id : undefined }
  }
  return smallServer(parse, options)
}

interface Parsed {
  readonly key?: unknown
  readonly name?: unknown
  readonly tag?: unknown
}

interface SmallServerOptions {
  readonly overwrites?: boolean
  /** Whether it answers 500 when it has overwritten a plant. */
  readonly failsThen?: boolean
}

function smallServer(
  parse: (text: string) => Parsed,
  { overwrites = false, failsThen = false }: SmallServerOptions = {},
): RequestListener {
  const plants = new Map<unknown, Parsed>()
  return async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    if (request.method !== 'POST' || request.url !== '/api/v1/plants') return answer(response, 404, 'text/plain', 'no')
    if (!/^bearer \S/i.test(request.headers.authorization ?? '')) return answer(response, 401, 'text/plain', 'no')
    const refuse = (message: string) => answer(response, 400, 'application/json', JSON.stringify({ message, error: 1 }))
    let plant: Parsed
    try {
      plant = parse(body)
    } catch {
      return refuse('no JSON')
    }
    const { key, name, tag } = plant
    const isValid = key !== undefined && typeof name === 'string' && (tag === undefined || typeof tag === 'string')
    if (!isValid) return refuse('no plant')
    const isTaken = plants.has(key)
    if (isTaken && !overwrites) return refuse('taken')
    plants.set(key, plant)
    if (isTaken && failsThen) return answer(response, 500, 'text/plain', 'no')
    // Not in the order of the schema, and with more than it names.
    answer(response, 200, 'Application/JSON; charset=utf-8', JSON.stringify({ tag, id: 0, name }))
  }
}

function answer(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { Via: '1.1 somebody', 'content-type': type })
  response.write(body.slice(0, 5))
  response.end(body.slice(5))
}

async function listen(server: Server) {
  return {
    port: await listenAt(server),
    [Symbol.asyncDispose]: async () => {
      server.close()
    },
  }
}

const verify = (port: number, ...flags: string[]): Promise<Finished> =>
  runHere(['verify', `http://127.0.0.1:${port}/api/v1/`, '--token', 'any', ...flags])

const noPython = spawnSync('python3', ['--version']).status !== 0 && 'there is no python3 here'
const specified = ['--level', 'specified']
const impatient = ['--timeout', '0.3']

const failuresOf = ({ stdout }: Finished): string[] =>
  (JSON.parse(stdout) as VerifyReport).rows.filter(({ outcome }) => outcome === 'failed').map(({ title }) => title)

describe('plantstore verify of a small server', () => {
  test('that does what the document specifies, below a path, in chunks: no row fails, and what is left is told', async () => {
    await using server = await listen(createServer(exactServer()))
    const finished = await verify(server.port, ...specified, '--json')
    assert.deepEqual(failuresOf(finished), [])
    const { left } = JSON.parse(finished.stdout)
    assert.ok(left.includes('plant 999999999999501312'), left)
    // The document has no operation that deletes.
    assert.equal(finished.status, 0)
  })

  test('that rounds ids and refuses taken ones: the row of neighbouring ids', async () => {
    await using server = await listen(createServer(roundingServer({ overwrites: false })))
    const failed = failuresOf(await verify(server.port, ...specified, '--json'))
    assert.deepEqual(failed, ['neighbouring ids beyond 2^53 are two plants'])
  })

  exhaustive.test('that rounds ids and overwrites: nothing that the document itself shows is wrong', async () => {
    await using server = await listen(createServer(roundingServer({ overwrites: true })))
    assert.deepEqual(failuresOf(await verify(server.port, ...specified, '--json')), [])
  })

  exhaustive.test('that does what the document specifies is far from complete', async () => {
    await using server = await listen(createServer(exactServer()))
    const { status, stdout, stderr } = await verify(server.port)
    assert.deepEqual([status, stderr], [1, ''])
    assert.match(stdout, /^the document itself +\d+ passed$/m)
    assert.match(stdout, /^Idempotency-Key .* failed, 1 skipped$/m)
    assert.doesNotMatch(stdout, /skipped: a wrong server/)
  })

  for (const failsThen of [false, true]) {
    const answers = failsThen ? ', and answers 500 to that,' : ''
    test(`that overwrites${answers} is not sent what it might take for a plant that nobody can look up`, async () => {
      await using server = await listen(createServer(roundingServer({ overwrites: true, failsThen })))
      const only = ({ title }: RowName): boolean => /^a (second create|body without an id is no plant)/.test(title)
      const { rows } = await verifyRows({ url: `http://127.0.0.1:${server.port}/api/v1`, token: 'any', only })
      assert.match(rows[1]?.skipped ?? '', /^a faulty server might confuse its id with 0, and it is unknown /)
    })
  }

  onFolder('with TLS', { skip: noOpenssl }, async (folder) => {
    const { key, cert } = makeCertificate(folder, 'plants')
    const options = { key: await readFile(key), cert: await readFile(cert) }
    await using server = await listen(createHttpsServer(options, exactServer()))
    const args = ['verify', `https://127.0.0.1:${server.port}/api/v1`, '--token', 'any', ...specified, '--json']
    const unknown = await runHere(args)
    assert.equal(unknown.status, 1)
    assert.match(unknown.stderr, /^plantstore: https:\/\/127\.0\.0\.1:\d+\/api\/v1 cannot be reached: self-signed /)
    const trusted = await runProgram(args, { env: { ...cleanEnvironment(), NODE_EXTRA_CA_CERTS: cert } })
    assert.deepEqual(failuresOf(trusted), [])
  })
})

exhaustive.test(
  'plantstore verify of a server in Python that has nothing but POST passes',
  { skip: noPython },
  async () => {
    const file = fileURLToPath(new URL('post-only.py', import.meta.url))
    const python = spawn('python3', [file], { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      const [port] = (await once(python.stdout.setEncoding('utf8'), 'data')) as [string]
      const args = ['verify', `http://127.0.0.1:${port.trim()}`, '--token', 'any', ...specified]
      const { status, stdout, stderr } = await runHere(args)
      assert.deepEqual([status, stderr], [0, ''], stdout)
      assert.match(stdout, /^27 passed, of 27 rows$/m)
      assert.match(stdout, /^Left on the server, because it could not be deleted:$/m)
    } finally {
      python.kill('SIGKILL')
      await once(python, 'close')
    }
  },
)

describe('plantstore verify of something else', () => {
  for (const [what, respond, wrong] of [
    ['that never answers', undefined, 'no answer within 0.3 s'],
    ['that closes connections', '', 'the connection was closed without an answer'],
    ['that does not speak HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', 'the answer is not HTTP: '],
    ['that switches protocols', 'HTTP/1.1 101 x\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', 'the server switched'],
    ['that breaks off', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{', 'the answer broke off: '],
  ] as const) {
    exhaustive.test(`${what} fails row by row, in plain words, and the run gives up`, async () => {
      const server = createSocketServer((socket) => {
        socket.on('error', () => {})
        socket.once('data', () => respond !== undefined && socket.end(respond))
      })
      await using listening = await listen(server)
      const { status, stdout, stderr } = await verify(listening.port, ...impatient)
      assert.deepEqual([status, stderr], [1, ''])
      assert.equal(stdout.split(`\n  wrong     ${wrong}`).length - 1, 3, stdout)
      assert.match(stdout, /^\d+ skipped: the server gave no answer in 3 consecutive rows$/m)
      assert.doesNotMatch(stdout, /\.ts|node:/)
    })
  }

  test('that answers everything with a page', async () => {
    const page = createServer((_request, response) => response.setHeader('Content-Type', 'text/html').end('<html>'))
    await using server = await listen(page)
    const { status, stdout } = await verify(server.port, ...specified, '--verbose')
    assert.equal(status, 1)
    assert.match(stdout, /^ {2}came +200, text\/html$/m)
    assert.match(stdout, /^ {2}wrong +the Content-Type is "text\/html", not application\/json$/m)
    assert.match(stdout, /^ {2}wrong +the status is 200; the request must not succeed$/m)
  })

  test('whose answer never ends', async () => {
    const endless = createServer((_request, response) => {
      response.setHeader('Content-Type', 'application/json')
      const timer = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(timer))
    })
    await using server = await listen(endless)
    const { status, stdout } = await verify(server.port, ...specified, ...impatient)
    assert.equal(status, 1)
    assert.match(stdout, /^ {2}wrong +no answer within 0\.3 s$/m)
  })
})
