// Plain requests, which are read without Node.js's parser: they are answered as those that it parses, are only what can
// be read in one way, and keep to everything that holds for a connection.

import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { type FieldsSeen, readPlainRequest } from '../../src/http/wire/plain-request.ts'
import { limits } from '../../src/limits.ts'
import { createToken } from '../../src/serve/new-token.ts'
import { type Connection, encodeRequest, plantJson, type RowRequest } from '../support/client.ts'
import type { HttpResponse } from '../support/conformance.ts'
import { toPlant } from '../support/plants.ts'
import { inRing } from '../support/ring.ts'
import { type Service, startService } from '../support/service.ts'
import { openTestStore } from '../support/store.ts'
import { until } from '../support/time.ts'
import { framingCorpus } from './framing/corpus.ts'

/** Requests to a service that Node.js has parsed. */
class ParsedByNode implements Disposable {
  #count = 0
  readonly #port: number
  readonly #note = (message: unknown): void => {
    if ((message as { readonly socket: Socket }).socket.localPort === this.#port) this.#count += 1
  }

  constructor({ port }: Service) {
    this.#port = port
    subscribe('http.server.request.start', this.#note)
  }

  get count(): number {
    return this.#count
  }

  [Symbol.dispose](): void {
    unsubscribe('http.server.request.start', this.#note)
  }
}

/** A token that was looked up stays known for as long as the tests last. */
const trusting = { tokenTrustMs: 600_000 }

/** Opens a connection that has had a request. */
async function openInUse({ client }: Service): Promise<Connection> {
  const connection = await client.open()
  await connection.request({ method: 'GET', target: '/plants/1' })
  return connection
}

/** All of an answer that does not depend on the moment. */
function lasting({ status, headers, body }: HttpResponse): unknown {
  const ofTheMoment = ['date', 'x-request-id']
  const fields = [...headers].map(([name, value]) => [name, ofTheMoment.includes(name) ? '' : value])
  // Each server has its own token.
  return { status, headers: fields, body: body.replace(/\btok_\w+/, 'tok_') }
}

const ids = fc.constantFrom('1', '2', '3', '-9223372036854775808', '9223372036854775807', '9223372036854775808', '07')
const names = fc.constantFrom('Monstera', 'Ölweide', '\u{1f335}', 'a"\\\n', '')
const bodies = fc.oneof(
  fc.tuple(ids, names, fc.option(names, { nil: undefined })).map(([id, name, tag]) => plantJson(id, name, tag)),
  names.map((name) => JSON.stringify({ name })),
  fc.constantFrom('{}', '[', '{"id":1,"id":2,"name":"a"}', '{"id":1.0,"name":"b"}', '\u00ff', ''),
)
const oddFields: fc.Arbitrary<Record<string, string | undefined>> = fc.oneof(
  { weight: 1, arbitrary: fc.constant({}) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      { 'X-Odd': 'a  b' },
      { accept: '*/*', 'user-agent': 'curl/7.88.1' },
      { Origin: 'http://a.example' },
      { 'If-None-Match': '*' },
      { 'if-match': '"x", W/"y"' },
      { 'Idempotency-Key': 'one' },
      { Connection: 'keep-alive, x' },
      { 'Content-Encoding': 'gzip' },
      { 'Content-Type': 'application/json; charset=utf-8' },
      { Host: undefined },
      { TE: 'trailers' },
      { 'X-Long': 'x'.repeat(5_000) },
      { Authorization: 'Bearer plt_unknown' },
      { Authorization: undefined },
      { 'content-length': '0' },
    ),
  },
)
const targets = `/plants /plants/ /plants?limit=1 /plants?limit=101 /plants?tag=%C3%96 /plants?name=a+b /plants? /summary?a=1 /
/plants/%31 /plants/1/ /plants//1 /plants/plt_secret /../plants/1 /livez`
const requests: fc.Arbitrary<RowRequest> = fc
  .tuple(
    fc.constantFrom('GET', 'GET', 'POST', 'POST', 'PUT', 'DELETE', 'HEAD', 'PATCH', 'OPTIONS'),
    fc.oneof(
      ids.map((id) => `/plants/${id}`),
      fc.constantFrom(...targets.split(/\s/)),
    ),
    fc.option(bodies, { nil: undefined }),
    oddFields,
  )
  .map(([method, target, body, headers]) => ({ method, target, headers, ...(body !== undefined && { body }) }))

describe('plain requests', () => {
  let service: Service

  before(async () => {
    service = await startService(trusting)
  })

  after(() => service[Symbol.asyncDispose]())

  test('are not parsed by Node.js', async () => {
    using parsed = new ParsedByNode(service)
    await using connection = await openInUse(service)
    const target = '/plants/5'
    const requests: readonly (readonly [parts: RowRequest, status: number])[] = [
      [{ body: plantJson(5n, 'fern') }, 200],
      [{ method: 'GET', target }, 200],
      [{ method: 'GET', target, headers: { 'if-none-match': '*', accept: 'application/json' } }, 304],
      [{ method: 'PUT', target, body: '{"name":"tree fern"}' }, 200],
      [{ body: plantJson(5n, 'moss'), headers: { 'Idempotency-Key': 'k' } }, 409],
      [{ method: 'DELETE', target }, 204],
      [{ method: 'GET', target }, 404],
      [{ method: 'GET', target: '/plants' }, 200],
      [{ method: 'GET', target: '/plants?limit=1&tag=fern%20tree' }, 200],
      [{ method: 'GET', target: '/plants?limit=1000' }, 200],
      [{ method: 'GET', target: '/plants?limit=1&limit=1' }, 400],
      [{ method: 'GET', target: '/plants?name=m', headers: { 'if-none-match': '*' } }, 304],
      [{ method: 'GET', target, headers: { Origin: 'http://a.example' } }, 404],
      [{ method: 'GET', target, headers: { Authorization: 'Bearer plt_unknown' } }, 401],
      [{ method: 'GET', target: '/', headers: { Accept: 'text/html' } }, 200],
    ]
    for (const [parts, status] of requests) assert.equal((await connection.request(parts)).status, status)
    assert.equal(parsed.count, 0)
    const others: readonly RowRequest[] = [
      { method: 'HEAD', target },
      { method: 'GET', target: '/plants?name="' },
      { method: 'GET', target, headers: { Connection: 'close' } },
    ]
    for (const parts of others) await connection.request(parts)
    assert.equal(parsed.count, others.length)
  })

  test('are answered as those that Node.js parses, whatever they ask', async () => {
    await using other = await startService({}, { parser: 'node' })
    using parsed = new ParsedByNode(service)
    using parsedByOther = new ParsedByNode(other)
    let sent = 0
    await fc.assert(
      fc.asyncProperty(fc.array(requests, { minLength: 1, maxLength: 12 }), async (some) => {
        let connections = [await service.client.open(), await other.client.open()]
        for (const parts of some) {
          const [got, wanted] = await Promise.all(connections.map((connection) => connection.request(parts)))
          assert.ok(got !== undefined && wanted !== undefined)
          assert.deepEqual(lasting(got), lasting(wanted))
          sent += 1
          if (got.headers.get('connection') !== 'close') continue
          for (const connection of connections) await connection[Symbol.asyncDispose]()
          connections = [await service.client.open(), await other.client.open()]
        }
        for (const connection of connections) await connection[Symbol.asyncDispose]()
      }),
      { numRuns: inRing(100, 600) },
    )
    assert.ok(sent - parsed.count > 100, `${sent - parsed.count}`)
    // Others are refused before they are parsed.
    assert.ok(parsedByOther.count > 0.9 * sent, `${parsedByOther.count} of ${sent}`)
  })

  test('are refused to a token that is known, but may not', async () => {
    await using connection = await openInUse(service)
    const mint = async (lifetimeMs: number): Promise<Record<string, string>> => {
      await using store = await openTestStore(service.path, { exclusive: false })
      const { secret } = await createToken(store, { name: 'reads', scopes: ['plants:read'], lifetimeMs })
      return { Authorization: `Bearer ${secret}` }
    }
    // No other test makes this plant.
    const get = { method: 'GET', target: '/plants/800' }
    const reads = await mint(600_000)
    assert.equal((await connection.request({ ...get, headers: reads })).status, 404)
    assert.equal((await connection.request({ body: plantJson(801n, 'moss'), headers: reads })).status, 403)
    const expires = await mint(300)
    assert.equal((await connection.request({ ...get, headers: expires })).status, 404)
    let status = 404
    await until('the token expires', async () => {
      status = (await connection.request({ ...get, headers: expires })).status
      return status !== 404
    })
    assert.equal(status, 401)
  })

  test('are answered to a client that has nothing more to say', async () => {
    await using connection = await openInUse(service)
    connection.send(encodeRequest(service.client.token, { body: plantJson(901n, 'the last one') }))
    connection.finish()
    assert.equal((await connection.answerTo('POST', '/plants')).status, 200)
    await connection.closed()
  })

  test('are answered before what is sent behind them', async () => {
    await using connection = await openInUse(service)
    await using other = await openInUse(service)
    using parsed = new ParsedByNode(service)
    using database = new DatabaseSync(service.path)
    /** Once another connection is answered, the server has read what was sent before. */
    const untilRead = (): Promise<unknown> => other.request({ method: 'GET', target: '/plants/1' })
    // Until this transaction ends there is no other, and so no answer to a create.
    database.exec('BEGIN IMMEDIATE')
    connection.send(encodeRequest(service.client.token, { body: plantJson(902n, 'first') }))
    await untilRead()
    const get = encodeRequest(service.client.token, { method: 'GET', target: '/plants/902' })
    connection.send(get.subarray(0, 20))
    await untilRead()
    connection.send(get.subarray(20))
    await untilRead()
    database.exec('COMMIT')
    assert.equal((await connection.answerTo('POST', '/plants')).status, 200)
    assert.equal((await connection.answerTo('GET', '/plants/902')).status, 200)
    assert.equal(parsed.count, 0)
  })
})

describe('pages for plain requests', () => {
  /** Long names, so that a page is more than the system takes at once. */
  const nameOf = (id: number): string => `${id} \u{1f335}`.padEnd(1_000, 'n')
  const plants = 3_000
  const pagePlants = 1_000

  /** What a list after some id must be. */
  const pageAfter = (after: number): string => {
    const ids = Array.from({ length: Math.min(pagePlants, plants - after - 1) }, (_, at) => after + 1 + at)
    return `[${ids.map((id) => plantJson(id.toString(), nameOf(id))).join()}]`
  }

  async function fill(path: string, count: number, nameOf: (id: number) => string): Promise<void> {
    await using store = await openTestStore(path, { exclusive: false })
    const bulk = await store.beginImport({ isWhole: false })
    await bulk.add(
      Array.from({ length: count }, (_, id) => toPlant({ id: BigInt(id), name: nameOf(id) })),
      'fail',
    )
    await bulk.commit()
    await bulk.end()
  }

  test('are whole for clients that read slowly, beside some that leave; each is freed once', async (t) => {
    await using service = await startService(trusting)
    await fill(service.path, plants, nameOf)
    const transfer = t.mock.method(ArrayBuffer.prototype, 'transfer')
    const freed = () => transfer.mock.calls.filter((call) => (call.this as ArrayBuffer).detached).length
    using parsed = new ParsedByNode(service)
    const connections = await Promise.all(Array.from({ length: 8 }, () => openInUse(service)))
    const targetOf = (after: number): string => `/plants?limit=${pagePlants}&after=${after}`
    let sent = 0
    for (let round = 0; round < inRing(3, 20); round += 1) {
      await Promise.all(
        connections.map(async (connection, at) => {
          const after = round * 8 + at
          sent += 1
          connection.pause()
          connection.send(encodeRequest(service.client.token, { method: 'GET', target: targetOf(after) }))
          await new Promise((resolve) => setTimeout(resolve, 5 * at))
          connection.resume()
          const { status, body } = await connection.answerTo('GET', targetOf(after))
          assert.equal(status, 200)
          assert.ok(body === pageAfter(after), `${after}`)
        }),
      )
      await using leaving = await openInUse(service)
      leaving.send(encodeRequest(service.client.token, { method: 'GET', target: targetOf(1_000 + round) }))
      leaving.reset()
    }
    assert.equal(parsed.count, 0)
    assert.ok(freed() >= sent, `${freed()} of ${sent}`)
    for (const each of connections) await each[Symbol.asyncDispose]()
  })
})

describe('a connection with plain requests', { concurrency: true }, () => {
  /** Long beside the pauses of a busy machine. */
  const patience = { headersMsMax: 1_500, requestMsMax: 1_600, connectionCheckMs: 20 }

  /** Sends requests for longer than a connection without one may last. */
  const keepBusy = async (connection: Connection): Promise<void> => {
    const startedMs = performance.now()
    while (performance.now() - startedMs < patience.requestMsMax + 500) {
      assert.equal((await connection.request({ method: 'GET', target: '/plants/1' })).status, 404)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  test('is not taken for one whose first request does not come, and ends when it is idle', async () => {
    await using service = await startService({ ...trusting, ...patience, keepAliveMsMax: 1_000 })
    await using connection = await openInUse(service)
    using parsed = new ParsedByNode(service)
    await keepBusy(connection)
    assert.equal(parsed.count, 0)
    await connection.closed()
  })

  test('is not taken for one without a request when its first one is plain, by a token that is known', async () => {
    await using service = await startService({ ...trusting, ...patience })
    await service.client.request({ method: 'GET', target: '/plants/1' })
    await using connection = await service.client.open()
    await keepBusy(connection)
  })

  test('is told that it ends while the server stops', async () => {
    const service = await startService({ ...trusting, stopGraceMs: 1_500 })
    const connection = await openInUse(service)
    const other = await openInUse(service)
    const stopped = service[Symbol.asyncDispose]()
    using parsed = new ParsedByNode(service)
    assert.equal((await connection.request({ body: plantJson(1n, 'the last') })).headers.get('connection'), 'close')
    await connection.closed()
    assert.equal((await other.request({ method: 'GET', target: '/plants/1' })).headers.get('connection'), 'close')
    await other.closed()
    assert.equal(parsed.count, 0)
    await stopped
  })

  for (const parser of ['fast', 'node'] as const) {
    test(`may be idle for long again once its answers were read, and is ended when they are not (${parser})`, async () => {
      await using service = await startService({ ...trusting, unreadMsMax: 400 }, { parser })
      await using connection = await openInUse(service)
      const cactus = '\u{1f335}'
      assert.equal((await connection.request({ body: plantJson(1n, cactus.repeat(1_024), cactus) })).status, 200)
      const get = encodeRequest(service.client.token, { method: 'GET', target: '/plants/1' })
      const answered = () => service.events.filter((event) => event.kind === 'requestFinished').length
      /** Sends requests until an answer has to wait for the client; returns how many. */
      const fill = async (): Promise<number> => {
        connection.pause()
        const before = answered()
        let sent = 0
        while (answered() === before + sent) {
          connection.send(get)
          sent += 1
          for (let turn = 0; turn < 100 && answered() < before + sent; turn += 1) {
            await new Promise((resolve) => setImmediate(resolve))
          }
        }
        return sent
      }
      const sent = await fill()
      connection.resume()
      for (let answer = 0; answer < sent; answer += 1) await connection.answerTo('GET', '/plants/1')
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      assert.equal((await connection.request({ method: 'GET', target: '/plants/1' })).status, 200)
      await fill()
      const aborted = () => service.events.filter((event) => event.kind === 'requestAborted')
      await until('it is ended', () => aborted().length > 0)
      assert.equal(aborted()[0]?.reason, 'notRead')
    })
  }

  test('is ended when its answers are not read', async () => {
    await using service = await startService({ unreadMsMax: 300 })
    const cactus = '\u{1f335}'
    assert.equal((await service.client.create(1n, cactus.repeat(1_024), cactus.repeat(256))).status, 200)
    const get = encodeRequest(service.client.token, { method: 'GET', target: '/plants/1' })
    const socket = connect({ port: service.port, host: '127.0.0.1' }).pause()
    socket.on('error', () => {})
    const aborted = () => service.events.filter((event) => event.kind === 'requestAborted')
    // One at a time, as soon as the system has the answer to the one before.
    let sent = 0
    while (aborted().length === 0) {
      const finished = service.events.length
      socket.write(get)
      sent += 1
      while (service.events.length === finished) await new Promise((resolve) => setImmediate(resolve))
    }
    assert.deepEqual(
      aborted().map(({ reason }) => reason),
      ['notRead'],
    )
    assert.ok(sent > 2, `${sent}`)
    socket.destroy()
  })
})

describe('what is taken for a plain request', () => {
  interface Parsed {
    readonly method: string
    readonly target: string
    readonly headers: IncomingMessage['headers']
    readonly body: string
  }
  const parsed: Parsed[] = []
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const { method = '', url: target = '', headers } = request
      parsed.push({ method, target, headers, body: Buffer.concat(pieces).toString('latin1') })
      response.end()
    })
  })

  before(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })

  after(() => server.close())

  /** What Node.js takes some bytes for, when nothing comes behind them. */
  async function parse(bytes: Buffer): Promise<readonly Parsed[]> {
    parsed.length = 0
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.end(bytes)
    await socket.resume().toArray()
    return [...parsed]
  }

  const wire = Buffer.from(
    'POST /plants HTTP/1.1\r\nHost: a.example\r\nContent-Length: 2\r\nAccept: */*\r\n\r\n{}',
    'latin1',
  )
  const pieces = [...'\r\n \t:\0\x7f\x80x,%/2?', '\r\n', 'Content-Length: 1\r\n', '&a=']
  const mutants = fc
    .tuple(fc.nat({ max: wire.length }), fc.nat({ max: 4 }), fc.array(fc.constantFrom(...pieces), { maxLength: 2 }))
    .map(([at, length, inserted]) => [at, length, inserted.join('')] as const)

  const seen: FieldsSeen = { text: '', fields: undefined }

  /** Some bytes are no plain request, or Node.js takes them for the very same one, and for nothing more. */
  async function expectSame(bytes: Buffer): Promise<boolean> {
    const plain = readPlainRequest(bytes, limits)
    // Whatever came before on the connection, and when it comes again.
    for (let time = 0; time < 2; time += 1) assert.deepEqual(readPlainRequest(bytes, limits, seen), plain)
    if (plain === undefined) return false
    const [request, ...more] = await parse(bytes)
    assert.ok(request !== undefined && more.length === 0, bytes.toString('latin1'))
    const { method, target, fields, body } = plain
    assert.deepEqual([method, target, body?.toString('latin1') ?? ''], [request.method, request.target, request.body])
    for (const [name, value] of Object.entries(fields)) assert.equal(value, request.headers[name], name)
    return true
  }

  test('is nothing that could be read in two ways, or that asks for something special', () => {
    const request = (line: string, ...lines: readonly string[]): Buffer =>
      Buffer.from([line, ...lines, '', ''].join('\r\n'), 'latin1')
    const [get, hostLine] = ['GET /plants/1 HTTP/1.1', 'Host: a.example']
    assert.notEqual(readPlainRequest(request(get, hostLine, 'X: y'), limits), undefined)
    assert.notEqual(readPlainRequest(wire, limits), undefined)
    // What Node.js reads otherwise is found by the tests below.
    const lines = ['GET /plants/1 HTTP/1.0', 'HEAD / HTTP/1.1', 'OPTIONS / HTTP/1.1', 'GET /plants/%31 HTTP/1.1']
    const fields = [
      ...[
        'Transfer-Encoding: chunked',
        'Content-Encoding: gzip',
        'TE: trailers',
        'Expect: 100-continue',
        'Upgrade: h2c',
      ],
      ...['Connection: close', 'Connection: keep-alive, x', 'Accept: text/event-stream', 'Host: b.example'],
      'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      ...['Content-Length: 0', 'Content-Length: 1', 'Content-Length: 02', 'Authorization: a\r\nauthorization: b'],
      ...[`X: ${'y'.repeat(limits.plainHeaderBytesMax)}`, 'X: y\r\n'.repeat(limits.headerFieldsMax).trim()],
    ]
    const odd = [
      ...lines.map((line) => request(line, hostLine)),
      ...fields.map((field) => request(get, hostLine, field)),
      ...[request(get), request(get, 'Host: b c'), request(get, hostLine).subarray(0, -1), Buffer.alloc(0)],
      ...[Buffer.concat([request(get, hostLine), request(get, hostLine)]), wire.subarray(0, -1)],
    ]
    for (const bytes of odd)
      assert.equal(readPlainRequest(bytes, limits), undefined, JSON.stringify(bytes.toString('latin1')))
  })

  test('is what Node.js takes it for, of all that the framing corpus has', async () => {
    let plain = 0
    for (const { steps } of framingCorpus) {
      for (const step of steps) {
        if (typeof step === 'object' && !Buffer.isBuffer(step)) continue
        if (await expectSame(Buffer.from(step as string, 'latin1'))) plain += 1
      }
    }
    assert.ok(plain > 5, `${plain}`)
  })

  test('is what Node.js takes it for, however it is changed', async () => {
    let plain = 0
    await fc.assert(
      fc.asyncProperty(fc.array(mutants, { maxLength: 3 }), async (changes) => {
        let bytes = wire
        for (const [at, length, inserted] of changes) {
          const behind = bytes.subarray(Math.min(at + length, bytes.length))
          bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(inserted, 'latin1'), behind])
        }
        if (await expectSame(bytes)) plain += 1
      }),
      { numRuns: inRing(500, 3_000) },
    )
    assert.ok(plain > 100, `${plain}`)
  })
})
