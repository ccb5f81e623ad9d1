// Limits in time and number: slow clients, waiting changes.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { shownPath } from '../../src/http/request.ts'
import { limits } from '../../src/limits.ts'
import { Random } from '../power-loss/random.ts'
import { type Connection, countStatuses, encodeRequest, plantJson } from '../support/client.ts'
import { inRing } from '../support/ring.ts'
import { onService, startService } from '../support/service.ts'
import { assertPrompt, until } from '../support/time.ts'
import { drawPieces, framingLimits, timeToEnd } from './framing/run.ts'

const livez = { method: 'GET', target: '/livez' }
/** A create whose body comes in chunks, with those given. */
const chunked = (token: string, chunks = ''): string =>
  `${encodeRequest(token, { headers: { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' } })}${chunks}`

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
    await using connections = new AsyncDisposableStack()
    const first = connections.use(await service.open())
    const statuses: number[] = []
    while (!statuses.includes(503)) {
      const connection = connections.use(await service.open())
      const { status, headers } = await connection.request(livez)
      statuses.push(status)
      if (status === 200) continue
      assert.equal(headers.get('retry-after'), '1')
      connection.finish()
      await connection.closed()
    }
    // The client that fetched the document may have its connection still, or not any more.
    assert.ok([5, 6].includes(statuses.length), `${statuses}`)
    assert.equal((await first.request(livez)).status, 200)
  })

  test('a refused client that does not go away makes room for others', async () => {
    await using service = await startService({ connectionsMax: 3 })
    await using connections = new AsyncDisposableStack()
    for (let count = 0; count < 3; count += 1) {
      const connection = connections.use(await service.open())
      connection.send('garbage\r\n\r\n')
      await connection.answer()
    }
    const isServed = async () => (await service.request(livez)).status === 200
    // Not only once other limits end the connections.
    await until('there is room', isServed, limits.unreadMsMax / 2)
  })

  for (const [what, method, begin, rest] of [
    ['heads', 'GET', 'X: ', 'y\r\n\r\n'],
    ['bodies', 'PUT', 'Content-Length: 20000\r\n\r\n{"name":"p"', '}'],
  ] as const) {
    test(`${what} that arrive slowly are refused, the slowest first, when they are too many bytes`, async () => {
      await using service = await startService({ arrivingBytesMax: 60_000, headersMsMax: 60_000, requestMsMax: 60_000 })
      const head = `${encodeRequest(service.token, { method, target: '/plants/1' })}`.slice(0, -2)
      const type = 'Content-Type: application/json\r\n'
      const length = method === 'GET' ? 10_000 : 20_000 - '{"name":"p"}'.length
      await using connections = new AsyncDisposableStack()
      const slow: Connection[] = []
      const refusals = () => service.events.filter((event) => 'error' in event && event.error === 'overloaded').length
      while (refusals() < 2) {
        const connection = connections.use(await service.open())
        connection.send(`${head}${type}${begin}${' '.repeat(length)}`)
        slow.push(connection)
        // The first stays the slowest although it goes on, which would complete a body.
        if (method === 'GET') slow[0]?.send(' ')
        // By then the bytes before were read.
        await service.request(livez)
      }
      // A refused request takes no more room while its connection lingers.
      assert.ok(slow.length <= 8, `${slow.length}`)
      for (const connection of slow.slice(0, 2)) {
        const { status, body, headers } = await connection.answerTo(method, '/plants/1')
        assert.deepEqual([status, JSON.parse(body).error, headers.get('retry-after')], [503, 50301, '1'])
      }
      const last = slow.at(-1)
      last?.send(rest)
      assert.equal((await last?.answerTo(method, '/plants/1'))?.status, 404)
    })
  }

  onService('a rejected client that continues to send is soon disconnected', async (service) => {
    await using connection = await service.open()
    connection.send('POST /plants HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
    assert.equal((await connection.answerTo('POST', '/plants')).status, 401)
    const refusedMs = performance.now()
    await connection.closed()
    assertPrompt(refusedMs, limits.lingerMsMax)
  })

  test('a body that nobody reads takes no room from others', async () => {
    await using service = await startService({ arrivingBytesMax: 60_000 })
    await using slow = await service.open()
    slow.send('POST /plants HTTP/1.1\r\nHost: a\r\nX: ')
    await using discarded = await service.open()
    const headers = { 'Content-Length': '900000000' }
    assert.equal((await discarded.request({ method: 'OPTIONS', target: '/', headers })).status, 204)
    for (let times = 0; times < 5; times += 1) {
      discarded.send('x'.repeat(500_000))
      await service.request(livez)
    }
    slow.send('y\r\n\r\n')
    assert.equal((await slow.answerTo('POST', '/plants')).status, 401)
  })

  onService('a body in tiny chunks takes no more memory than its bytes', async (service) => {
    const bytes = chunked(service.token, '1\r\na\r\n'.repeat(10_000))
    await using connections = new AsyncDisposableStack()
    setFlagsFromString('--expose-gc')
    const collectGarbage: () => void = runInNewContext('gc')
    const usedBytes = (): number => {
      collectGarbage()
      const { heapUsed, external } = process.memoryUsage()
      return heapUsed + external
    }
    const before = usedBytes()
    for (let count = 0; count < 60; count += 1) connections.use(await service.open()).send(bytes)
    for (let times = 0; times < 20; times += 1) await service.request(livez)
    // 120 MiB where each chunk is held by itself.
    const growth = usedBytes() - before
    assert.ok(growth < 50 * 1024 * 1024, `${growth}`)
  })

  test('a body without its end costs no unit of the rate limit', async () => {
    await using service = await startService({}, { rateLimit: '2/1h' })
    for (let times = 0; times < 4; times += 1) {
      await using connection = await service.open()
      connection.send(chunked(service.token, 'xyz\r\n'))
      assert.equal((await connection.answerTo('POST', '/plants')).status, 400)
    }
    assert.equal((await service.request({ method: 'GET', target: '/plants/1' })).status, 404)
  })

  test('whatever pieces of requests arrive, the connection ends in time; control: without clocks it does not', async () => {
    async function countEndless(connectionCheckMs: number, count: number, msMax: number): Promise<number> {
      await using service = await startService({ ...framingLimits, connectionCheckMs })
      const random = new Random(20)
      const drawn = Array.from({ length: count }, () => drawPieces(random, service.token))
      const times = await Promise.all(drawn.map((pieces) => timeToEnd(service.port, pieces, msMax)))
      assert.ok(!service.events.some((event) => 'status' in event && event.status === 500))
      return times.filter((ms) => ms >= msMax).length
    }
    // Far longer than any limit: what has not ended by then has no clock.
    const own = countEndless(framingLimits.connectionCheckMs, inRing(150, 400), 40_000)
    const control = countEndless(60_000, 40, 2_000)
    assert.deepEqual([await own, (await control) > 0], [0, true])
  })

  onService('a flood of one connection lets others in between, and is answered to the end', async (service) => {
    const finished = () => service.events.filter((event) => event.kind === 'requestFinished').length
    await using flood = await service.open()
    await using honest = await service.open()
    const [many, before] = [600, finished()]
    flood.send(Buffer.concat(Array(many).fill(encodeRequest('', livez))))
    await until('the flood has begun', () => finished() > before)
    assert.equal((await honest.request(livez)).status, 200)
    assert.ok(finished() - before < many, 'the whole flood was served first')
    for (let count = 0; count < many; count += 1) await flood.answerTo('GET', '/livez')
  })

  test('more changes than may wait are refused with 503 and Retry-After, and nothing of them is done', async () => {
    await using service = await startService({ waitingJobsMax: 5, transactionJobsMax: 1, storeBusyMsMax: 60_000 })
    const connections = await Promise.all(Array.from({ length: 40 }, () => service.open()))
    // Held by another process, the store has every change wait.
    using other = new DatabaseSync(service.path)
    other.exec('BEGIN IMMEDIATE')
    const asked = connections.map((connection, id) => connection.request({ body: plantJson(BigInt(id), 'n') }))
    await Promise.race(asked)
    other.exec('ROLLBACK')
    const answers = await Promise.all(asked)
    for (const [id, { status, body, headers }] of answers.entries()) {
      if (status === 200) continue
      assert.deepEqual([JSON.parse(body).error, headers.get('retry-after')], [50301, '1'])
      assert.equal((await service.create(BigInt(id), 'again')).status, 200)
    }
    const { 200: done = 0, 503: refused = 0 } = countStatuses(answers)
    assert.ok(done > 0 && refused > 0 && done + refused === 40, `${done} were done, ${refused} refused`)
    for (const connection of connections) await connection[Symbol.asyncDispose]()
  })
})
