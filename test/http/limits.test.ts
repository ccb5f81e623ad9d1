// Limits in time and number: slow clients, waiting changes.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { shownPath } from '../../src/http/request.ts'
import { type Limits, limits } from '../../src/limits.ts'
import { Random } from '../power-loss/random.ts'
import { type Connection, encodeRequest, plantJson } from '../support/client.ts'
import type { HttpResponse } from '../support/conformance.ts'
import { inRing } from '../support/ring.ts'
import { startService } from '../support/service.ts'
import { assertPrompt, until } from '../support/time.ts'
import { drawPieces, pieceLimits, timeToEnd } from './pieces.ts'

// Waiting takes no time of the processor, so all of them wait at once.
describe('limits', { concurrency: true }, () => {
  test('any path takes time linear in its length', () => {
    const path = `/plants/${'eyJ'.repeat(5_300)}`
    const startedMs = performance.now()
    for (let count = 0; count < 100; count += 1) shownPath(path)
    // Where each of them is looked through to the end, it takes five seconds.
    assertPrompt(startedMs, 250)
    assert.equal(shownPath(path), '/plants/eyJ...')
    assert.equal(shownPath('/a/plt_secret/eyJa.b.c/d?eyJ'), '/a/plt_.../eyJ.../d')
  })

  test('more connections than may be are answered with 503 and closed; the others go on', async () => {
    await using service = await startService({ connectionsMax: 6 })
    const { client } = service
    const answers: HttpResponse[] = []
    await using connections = new AsyncDisposableStack()
    const first = connections.use(await client.open())
    while (answers.every(({ status }) => status === 200)) {
      const connection = connections.use(await client.open())
      answers.push(await connection.request({ method: 'GET', target: '/livez' }))
      if (answers.at(-1)?.status === 200) continue
      connection.finish()
      await connection.closed()
    }
    const refused = answers.at(-1)
    assert.equal(refused?.status, 503)
    assert.equal(refused.headers.get('retry-after'), '1')
    // The client that fetched the document may have its connection still, or not any more.
    assert.ok([5, 6].includes(answers.length), `${answers.length}`)
    assert.equal((await first.request({ method: 'GET', target: '/livez' })).status, 200)
  })

  test('a rejected client that continues to send is soon disconnected', async () => {
    await using service = await startService({})
    await using connection = await service.client.open()
    connection.send('POST /plants HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
    assert.equal((await connection.answerTo('POST', '/plants')).status, 401)
    const refusedMs = performance.now()
    await connection.closed()
    assertPrompt(refusedMs, limits.lingerMsMax)
  })

  test('a refused client that does not go away makes room for others', async () => {
    await using service = await startService({ connectionsMax: 3 })
    const { client } = service
    await using connections = new AsyncDisposableStack()
    for (let count = 0; count < 3; count += 1) {
      const connection = connections.use(await client.open())
      connection.send('garbage\r\n\r\n')
      await connection.answer()
    }
    const isServed = async () => (await client.request({ method: 'GET', target: '/livez' })).status === 200
    // Not only once other limits end the connections.
    await until('there is room', isServed, limits.unreadMsMax / 2)
  })

  for (const [what, method, begin, rest] of [
    ['heads', 'GET', 'X: ', 'y\r\n\r\n'],
    ['bodies', 'PUT', 'Content-Length: 20000\r\n\r\n{"name":"p"', '}'],
  ] as const) {
    test(`${what} that arrive slowly are refused, the slowest first, when they are too many bytes`, async () => {
      await using service = await startService({ arrivingBytesMax: 60_000, headersMsMax: 60_000, requestMsMax: 60_000 })
      const { client } = service
      const head = `${method} /plants/1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${client.token}\r\n`
      const type = 'Content-Type: application/json\r\n'
      const length = method === 'GET' ? 10_000 : 20_000 - '{"name":"p"}'.length
      await using connections = new AsyncDisposableStack()
      const slow: Connection[] = []
      const refusals = () => service.events.filter((event) => 'error' in event && event.error === 'overloaded').length
      while (refusals() < 2) {
        const connection = connections.use(await client.open())
        connection.send(`${head}${type}${begin}${' '.repeat(length)}`)
        slow.push(connection)
        // The first stays the slowest although it goes on, which would complete a body.
        if (method === 'GET') slow[0]?.send(' ')
        // By then the bytes before were read.
        await client.request({ method: 'GET', target: '/livez' })
      }
      for (const connection of slow.slice(0, 2)) {
        const { status, body, headers } = await connection.answerTo(method, '/plants/1')
        assert.deepEqual([status, JSON.parse(body).error, headers.get('retry-after')], [503, 50301, '1'])
      }
      const last = slow.at(-1)
      last?.send(rest)
      assert.equal((await last?.answerTo(method, '/plants/1'))?.status, 404)
    })
  }

  test('a body that nobody reads takes no room from others', async () => {
    await using service = await startService({ arrivingBytesMax: 60_000 })
    await using slow = await service.client.open()
    slow.send('POST /plants HTTP/1.1\r\nHost: a\r\nX: ')
    await using discarded = await service.client.open()
    discarded.send(`OPTIONS / HTTP/1.1\r\nHost: a\r\nContent-Length: 900000000\r\n\r\n${'x'.repeat(500_000)}`)
    assert.equal((await discarded.answerTo('OPTIONS', '/')).status, 204)
    for (let times = 0; times < 5; times += 1) {
      discarded.send('x'.repeat(500_000))
      await service.client.request({ method: 'GET', target: '/livez' })
    }
    slow.send('y\r\n\r\n')
    assert.equal((await slow.answerTo('POST', '/plants')).status, 401)
  })

  test('a body in tiny chunks takes no more memory than its bytes', async () => {
    await using service = await startService({})
    const { client } = service
    const chunks = '1\r\na\r\n'.repeat(10_000)
    await using connections = new AsyncDisposableStack()
    setFlagsFromString('--expose-gc')
    const collectGarbage: () => void = runInNewContext('gc')
    const usedBytes = (): number => {
      collectGarbage()
      const { heapUsed, external } = process.memoryUsage()
      return heapUsed + external
    }
    const before = usedBytes()
    for (let count = 0; count < 60; count += 1) {
      const connection = connections.use(await client.open())
      const head = `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${client.token}\r\n`
      connection.send(`${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`)
    }
    for (let times = 0; times < 20; times += 1) await client.request({ method: 'GET', target: '/livez' })
    // 120 MiB where each chunk is held by itself.
    const growth = usedBytes() - before
    assert.ok(growth < 50 * 1024 * 1024, `${growth}`)
  })

  test('a body without its end costs no unit of the rate limit', async () => {
    await using service = await startService({}, { rateLimit: '2/1h' })
    const { client } = service
    const head = `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${client.token}\r\n`
    for (let times = 0; times < 4; times += 1) {
      await using connection = await client.open()
      connection.send(`${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n`)
      assert.equal((await connection.answerTo('POST', '/plants')).status, 400)
    }
    assert.equal((await client.request({ method: 'GET', target: '/plants/1' })).status, 404)
  })

  describe('whatever pieces of requests arrive', () => {
    const sequences = inRing(150, 400)
    /** Far longer than any limit: what has not ended by then has no clock. */
    const patienceMs = 15_000

    async function countEndless(
      changed: Partial<Record<keyof Limits, number>>,
      count: number,
      msMax: number,
    ): Promise<number> {
      await using service = await startService({ ...pieceLimits, ...changed })
      const random = new Random(20)
      const drawn = Array.from({ length: count }, () => drawPieces(random, service.client.token))
      const times = await Promise.all(drawn.map((pieces) => timeToEnd(service.port, pieces, msMax)))
      assert.ok(!service.events.some((event) => 'status' in event && event.status === 500))
      return times.filter((ms) => ms >= msMax).length
    }

    test('the connection ends in time', async () => {
      assert.equal(await countEndless({}, sequences, patienceMs), 0)
    })

    test('control: without clocks it does not', async () => {
      assert.notEqual(await countEndless({ connectionCheckMs: 60_000 }, 40, 2_000), 0)
    })
  })

  test('an empty line that arrives separately after the chunks does not keep a connection open', async () => {
    await using service = await startService({ keepAliveMsMax: 2_000, connectionCheckMs: 50 })
    await using connection = await service.client.open()
    const head = `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.client.token}\r\n`
    connection.send(`${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n`)
    await setImmediate()
    connection.send('\r')
    await setImmediate()
    connection.send('\n')
    assert.equal((await connection.answerTo('POST', '/plants')).status, 400)
    await connection.closed()
  })

  test('a flood of one connection lets others in between, and is answered to the end', async () => {
    await using service = await startService({})
    const { client } = service
    const finished = () => service.events.filter((event) => event.kind === 'requestFinished').length
    await using flood = await client.open()
    await using honest = await client.open()
    const many = 2_000
    const before = finished()
    const get = { method: 'GET', target: '/livez' }
    flood.send(Buffer.concat(Array(many).fill(encodeRequest('', get))))
    await until('the flood has begun', () => finished() > before)
    assert.equal((await honest.request(get)).status, 200)
    assert.ok(finished() - before < many, 'the whole flood was served first')
    for (let count = 0; count < many; count += 1) await flood.answerTo(get.method, get.target)
  })

  test('more changes than may wait are refused with 503 and Retry-After, and nothing of them is done', async () => {
    await using service = await startService({ waitingJobsMax: 5, transactionJobsMax: 1, storeBusyMsMax: 60_000 })
    const { client } = service
    const connections = await Promise.all(Array.from({ length: 100 }, () => client.open()))
    // Held by another process, the store has every change wait.
    using other = new DatabaseSync(service.path)
    other.exec('BEGIN IMMEDIATE')
    const asked = connections.map((connection, id) => connection.request({ body: plantJson(BigInt(id), 'n') }))
    await Promise.race(asked)
    other.exec('ROLLBACK')
    const answers = await Promise.all(asked)
    const refused = answers.flatMap(({ status }, id) => (status === 503 ? [id] : []))
    assert.ok(refused.length > 0, 'nothing was refused')
    assert.ok(refused.length < 100, 'everything was refused')
    for (const [id, { status, body, headers }] of answers.entries()) {
      if (status === 200) continue
      assert.equal(JSON.parse(body).error, 50301)
      assert.equal(headers.get('retry-after'), '1')
      assert.equal((await client.create(BigInt(id), 'again')).status, 200)
    }
    for (const connection of connections) await connection[Symbol.asyncDispose]()
  })
})
