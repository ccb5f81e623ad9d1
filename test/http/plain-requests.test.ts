// Plain requests are read without Node.js's parser: only unambiguous ones are plain, and both give the same responses.

import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { type FieldsSeen, readPlainRequest } from '../../src/http/wire/plain.ts'
import { limits } from '../../src/limits.ts'
import { listen } from '../support/answering.ts'
import { encodeRequest, plantJson, type RowRequest } from '../support/client.ts'
import type { HttpResponse } from '../support/conformance.ts'
import { inRing } from '../support/ring.ts'
import { onService, type Service, startService } from '../support/service.ts'
import { importBeside } from '../support/store.ts'
import { framingCorpus } from './framing/corpus.ts'

/** Counts the requests to a service that Node.js parses. */
function countParsed({ port }: Service): { readonly count: number } & Disposable {
  const parsed = { count: 0, [Symbol.dispose]: () => unsubscribe('http.server.request.start', note) }
  const note = (message: unknown): void => {
    if ((message as { readonly socket: Socket }).socket.localPort === port) parsed.count += 1
  }
  subscribe('http.server.request.start', note)
  return parsed
}

/** All of an answer that does not depend on the moment. */
function lasting({ status, headers, body }: HttpResponse): unknown {
  const fields = [...headers].map(([name, value]) => [name, /^(date|x-request-id)$/.test(name) ? '' : value])
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
const oddFields = `X-Odd: a  b|accept: */*|Origin: http://a.example|If-None-Match: *|if-match: "x", W/"y"|Host
Idempotency-Key: one|Connection: keep-alive, x|Content-Encoding: gzip|Content-Type: application/json; charset=utf-8
TE: trailers|X-Long: ${'x'.repeat(5_000)}|Authorization: Bearer plt_unknown|Authorization|content-length: 0`
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
    fc.option(fc.constantFrom(...oddFields.split(/[|\n]/)), { nil: 'X: y', freq: 4 }),
  )
  .map(([method, target, body, field]) => {
    const [name = '', value] = field.split(/: (.*)/s)
    return { method, target, headers: { [name]: value }, ...(body !== undefined && { body }) }
  })

describe('plain requests', () => {
  onService('are not parsed by Node.js, and others are', async (service) => {
    await using connection = await service.open()
    using parsed = countParsed(service)
    const target = '/plants/5'
    for (const [parts, status, listed] of [
      [{ body: plantJson(5n, 'fern') }, 200],
      [{ method: 'GET', target, headers: { 'if-none-match': '*', accept: 'application/json' } }, 304],
      [{ method: 'PUT', target, body: '{"name":"tree fern"}' }, 200],
      [{ body: plantJson(5n, 'moss'), headers: { 'Idempotency-Key': 'k' } }, 409],
      [{ method: 'DELETE', target }, 204],
      [{ method: 'GET', target, headers: { Origin: 'http://a.example' } }, 404],
      // The value of a parameter goes on behind another equals sign.
      [{ body: plantJson(6n, 'fern', 'a=b+c d') }, 200],
      [{ method: 'GET', target: '/plants?tag=a=b%2Bc+d' }, 200, 1],
      [{ method: 'GET', target: '/plants?tag=a' }, 200, 0],
      [{ method: 'GET', target, headers: { Authorization: 'Bearer plt_unknown' } }, 401],
      [{ method: 'GET', target: '/', headers: { Accept: 'text/html' } }, 200],
    ] as const) {
      const response = await connection.request(parts)
      assert.equal(response.status, status)
      if (listed !== undefined) assert.equal(JSON.parse(response.body).length, listed)
    }
    assert.equal(parsed.count, 0)
    await connection.request({ method: 'HEAD', target })
    await connection.request({ method: 'GET', target: '/plants?name="' })
    await connection.request({ method: 'GET', target, headers: { Connection: 'close' } })
    assert.equal(parsed.count, 3)
  })

  onService('are answered as those that Node.js parses, whatever they ask', async (service) => {
    await using other = await startService({}, { parser: 'node' })
    const services = [service, other]
    using parsed = countParsed(service)
    using parsedByOther = countParsed(other)
    let sent = 0
    await fc.assert(
      fc.asyncProperty(fc.array(requests, { minLength: 1, maxLength: 12 }), async (some) => {
        await using cleanup = new AsyncDisposableStack()
        const open = () => Promise.all(services.map(async (each) => cleanup.use(await each.open())))
        let connections = await open()
        for (const parts of some) {
          const [got, wanted] = await Promise.all(connections.map((connection) => connection.request(parts)))
          assert.ok(got !== undefined && wanted !== undefined)
          assert.deepEqual(lasting(got), lasting(wanted))
          sent += 1
          if (got.headers.get('connection') === 'close') connections = await open()
        }
      }),
      { numRuns: inRing(60, 600) },
    )
    assert.ok(sent - parsed.count > 100, `${sent - parsed.count}`)
    // Others are refused before they are parsed.
    assert.ok(parsedByOther.count > 0.9 * sent, `${parsedByOther.count} of ${sent}`)
  })

  test('get whole pages, also when they read slowly beside others that leave; each page is freed once', async (t) => {
    /** Long names, so that a page is more than the system takes at once. */
    const plants = Array.from({ length: 1_000 }, (_, id) => ({ id: BigInt(id), name: `${id} \u{1f335}`.padEnd(1_000) }))
    await using service = await startService({})
    await importBeside(service.path, plants)
    const transfer = t.mock.method(ArrayBuffer.prototype, 'transfer')
    const freed = () => transfer.mock.calls.filter((call) => (call.this as ArrayBuffer).detached).length
    using parsed = countParsed(service)
    const pages = inRing(8, 160)
    const askOnce = async (after: number): Promise<void> => {
      await using connection = await service.open()
      connection.pause()
      const answer = connection.request({ method: 'GET', target: `/plants?limit=1000&after=${after}` })
      await sleep(5 * (after % 8))
      connection.resume()
      const { body } = await answer
      assert.ok(body === `[${plants.slice(after + 1).map(({ id, name }) => plantJson(id, name))}]`, `${after}`)
    }
    for (let after = 0; after < pages; after += 8) {
      await using leaving = await service.open()
      leaving.send(encodeRequest(service.token, { method: 'GET', target: '/plants?limit=1000' }))
      await Promise.all(Array.from({ length: 8 }, (_, index) => askOnce(after + index)))
      leaving.reset()
    }
    assert.equal(parsed.count, 0)
    assert.ok(freed() >= pages, `${freed()} of ${pages}`)
  })
})

describe('what is taken for a plain request', async () => {
  const parsed: (Pick<IncomingMessage, 'method' | 'url' | 'headers'> & { readonly body: string })[] = []
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request
    parsed.push({ method, url, headers, body: Buffer.concat(await request.toArray()).toString('latin1') })
    response.end()
  })
  const port = await listen(server)
  after(() => server.close())

  const wire = Buffer.from('POST /plants HTTP/1.1\r\nHost: a.example\r\nContent-Length: 2\r\nAccept: */*\r\n\r\n{}')
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
    parsed.length = 0
    const socket = connect(port, '127.0.0.1')
    socket.end(bytes)
    await socket.resume().toArray()
    const [request, ...more] = parsed
    assert.ok(request !== undefined && more.length === 0, bytes.toString('latin1'))
    const { method, target, fields, body } = plain
    assert.deepEqual([method, target, body?.toString('latin1') ?? ''], [request.method, request.url, request.body])
    for (const [name, value] of Object.entries(fields)) assert.equal(value, request.headers[name], name)
    return true
  }

  test('is nothing that could be read in two ways, or that asks for something special', () => {
    const request = (...lines: readonly string[]): Buffer => Buffer.from([...lines, '', ''].join('\r\n'), 'latin1')
    const [get, hostLine] = ['GET /plants/1 HTTP/1.1', 'Host: a.example']
    assert.notEqual(readPlainRequest(request(get, hostLine, 'X: y'), limits), undefined)
    assert.notEqual(readPlainRequest(wire, limits), undefined)
    // What Node.js reads otherwise is found by the tests below.
    const lines = ['GET /plants/1 HTTP/1.0', 'HEAD / HTTP/1.1', 'OPTIONS / HTTP/1.1', 'GET /plants/%31 HTTP/1.1']
    const fields = `Transfer-Encoding: chunked|Content-Encoding: gzip|TE: trailers|Expect: 100-continue|Upgrade: h2c
Connection: close|Connection: keep-alive, x|Accept: text/event-stream|Host: b.example|Content-Length: 0
Content-Length: 1|Content-Length: 02|traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`
    const odd = [
      ...lines.map((line) => request(line, hostLine)),
      ...fields.split(/[|\n]/).map((field) => request(get, hostLine, field)),
      request(get, hostLine, 'Authorization: a', 'authorization: b'),
      request(get, hostLine, `X: ${'y'.repeat(limits.plainHeaderBytesMax)}`),
      request(get, hostLine, ...Array<string>(limits.headerFieldsMax).fill('X: y')),
      ...[request(get), request(get, 'Host: b c'), request(get, hostLine).subarray(0, -1), Buffer.alloc(0)],
      ...[Buffer.concat([request(get, hostLine), request(get, hostLine)]), wire.subarray(0, -1)],
    ]
    for (const bytes of odd) assert.equal(readPlainRequest(bytes, limits), undefined, bytes.toString('latin1'))
  })

  test('is what Node.js takes it for, of all that the framing corpus has', async () => {
    let plain = 0
    for (const step of framingCorpus.flatMap(({ steps }) => steps)) {
      if (typeof step !== 'function' && (await expectSame(Buffer.from(step as string, 'latin1')))) plain += 1
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
