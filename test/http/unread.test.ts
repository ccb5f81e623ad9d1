// Answers that nobody reads: they end, they are told of, and they take nothing from those who read.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, Socket } from 'node:net'
import { Duplex, PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/domain/clock.ts'
import { AppError } from '../../src/domain/errors.ts'
import type { RequestAborted, ServiceEvent } from '../../src/domain/events.ts'
import { LargeAnswers } from '../../src/http/large-answers.ts'
import type { Reply, RequestConnection } from '../../src/http/request.ts'
import type { Service } from '../../src/http/service.ts'
import { Connection, type ConnectionOptions } from '../../src/http/wire/connection.ts'
import { Connections } from '../../src/http/wire/connections.ts'
import { NodeParser } from '../../src/http/wire/node-parser.ts'
import { createPeers } from '../../src/http/wire/peers.ts'
import { type Limits, limits } from '../../src/limits.ts'
import { createLog } from '../../src/observe/log.ts'
import { Client, encodeRequest, plantJson } from '../support/client.ts'
import { makeFolder } from '../support/folder.ts'
import { startServer } from '../support/program.ts'
import { startService, type Service as TestService } from '../support/service.ts'
import { until } from '../support/time.ts'

const document = encodeRequest('', { method: 'GET', target: '/openapi.json' })
/** More than the system takes in place of the client. */
const manyDocuments = Buffer.concat(Array.from({ length: 400 }, () => document))

/** A client that sends requests and reads nothing. */
async function neverRead(service: TestService, bytes: Buffer): Promise<Socket> {
  const socket = connect({ port: service.port, host: '127.0.0.1' }).pause()
  socket.on('error', () => {})
  socket.write(bytes)
  return socket
}

function serviceOf(serve: Service['serve']): Service {
  const fail = (): never => assert.fail()
  const refuseBytes = (): Reply => ({ status: 400, fields: {}, body: '' })
  return { serve, refuse: fail, refuseBytes, noteSent: () => {}, noteAborted: () => {} } as unknown as Service
}

/** The options of a connection, with a clock of the test. */
function optionsOf(changed: Partial<Limits>, monotonicMs: () => number): ConnectionOptions {
  const own = { ...limits, ...changed }
  return {
    limits: own,
    clock: { ...systemClock, monotonicMs },
    service: serviceOf(() => assert.fail()),
    parser: new NodeParser(own),
    peers: createPeers([]),
    largeAnswers: new LargeAnswers(own),
    newRequestId: () => 'a-1',
    readsPlainRequests: true,
    isStopping: () => false,
    isHolding: () => false,
    onMore: () => {},
    onArriving: () => {},
  }
}

function aborted({ events }: TestService): readonly RequestAborted[] {
  return events.filter((event) => event.kind === 'requestAborted')
}

describe('an answer that is not read', { concurrency: true }, () => {
  test('ends its connection after a while, and is an event', async () => {
    await using service = await startService({ unreadMsMax: 300 })
    const socket = await neverRead(service, manyDocuments)
    await until('it is cut off', () => aborted(service).length > 0)
    for (const { method, path, reason } of aborted(service)) {
      assert.deepEqual([method, path, reason], ['GET', '/openapi.json', 'notRead'])
    }
    socket.destroy()
  })

  test('is not lost when it is the last one and more is sent behind it', async () => {
    await using service = await startService({})
    const wanted = 6
    const target = '/openapi.yaml'
    const get = (headers = {}): Buffer => encodeRequest('', { method: 'GET', target, headers })
    const requests = Buffer.concat([...Array.from({ length: wanted - 1 }, () => get()), get({ Connection: 'close' })])
    const socket = await neverRead(service, requests)
    const isWritten = (event: ServiceEvent): boolean => event.kind === 'requestFinished' && event.path === target
    await until('all answers are with the system', () => service.events.filter(isWritten).length === wanted)
    // Some of them still are there, as the client has not read them. A connection that is closed now is reset.
    socket.write(get())
    let text = ''
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1')
    })
    const ended = once(socket, 'end', { signal: AbortSignal.timeout(15_000) })
    socket.resume()
    await ended
    assert.equal(text.split('HTTP/1.1 200 OK').length - 1, wanted)
  })

  test('goes first when too much waits, and others are served meanwhile', async () => {
    await using service = await startService({ unreadBytesMax: 256 * 1024, connectionCheckMs: 20, slowReaderMs: 40 })
    const sockets = await Promise.all(Array.from({ length: 12 }, () => neverRead(service, manyDocuments)))
    await until('some are cut off', () => aborted(service).some(({ reason }) => reason === 'memoryShort'))
    assert.equal((await service.client.request({ method: 'GET', target: '/livez' })).status, 200)
    for (const socket of sockets) socket.destroy()
  })

  test('may take a while when much waits, but not too much', async () => {
    let nowMs = 0
    const own = { unreadBytesMax: 1_000, slowReaderMs: 2_000, connectionCheckMs: 1, unreadMsMax: 1_000_000 }
    const connections = new Connections(optionsOf(own, () => nowMs))
    const sockets = [550, 300].map((writableLength) => {
      const socket = new Socket().on('data', () => {}).on('end', () => {})
      Object.defineProperty(socket, 'writableLength', { value: writableLength })
      Object.defineProperty(socket, 'bytesWritten', { value: 0, writable: true })
      connections.add(socket)
      return socket
    })
    for (const [atMs, cut] of [
      [0, [false, false]],
      [1_000, [false, false]],
      [1_999, [false, false]],
      // Either would be enough. The second one has read nothing for longer.
      [3_500, [false, true]],
    ] as const) {
      nowMs = atMs
      if (nowMs === 1_000) Object.assign(sockets[0] as Socket, { bytesWritten: 1 })
      await sleep(20)
      assert.deepEqual(
        sockets.map(({ destroyed }) => destroyed),
        cut,
        `${atMs} ms`,
      )
    }
    connections.stop()
    for (const socket of sockets) socket.destroy()
  })

  test('keeps large pages from being made while too much waits', async () => {
    await using service = await startService({
      unreadBytesMax: 256 * 1024,
      connectionCheckMs: 60_000,
      tokenTrustMs: 60_000,
    })
    const { client } = service
    const name = '\u{1f33f}'.repeat(512)
    const plants = 250
    await using connection = await client.open()
    for (let id = 0; id < plants; id += 1) {
      await connection.request({ body: plantJson(BigInt(id), name, name.slice(0, 256)) })
    }
    const target = `/plants?limit=${plants}`
    const page = encodeRequest(client.token, { method: 'GET', target })
    const socket = await neverRead(service, Buffer.concat(Array.from({ length: 200 }, () => page)))
    // By the shortcut, and as the first request of a connection.
    for (const asker of [connection, client]) {
      await until('a page is refused', async () => (await asker.request({ method: 'GET', target })).status === 503)
      assert.equal(JSON.parse((await asker.request({ method: 'GET', target })).body).error, 50301)
      assert.equal((await asker.request({ method: 'GET', target: '/plants/1' })).status, 200)
    }
    socket.destroy()
    await until('a page is made', async () => (await client.request({ method: 'GET', target })).status === 200)
  })

  test('keeps a page from being written that was looked for when less waited', async () => {
    const pages = new LargeAnswers({ ...limits, unreadBytesMax: 1_000 })
    const reader = (): RequestConnection => ({ socket: new Socket(), hasLeft: false, onceDone: () => {} })
    const [first, second] = [reader(), reader()]
    const isOverloaded = (error: unknown): boolean => error instanceof AppError && error.code === 'overloaded'
    pages.assertWanted(first)
    pages.add(first, 1_000)
    assert.throws(() => pages.add(reader(), 1), isOverloaded)
    assert.throws(() => pages.assertWanted(second), isOverloaded)
    pages.forget(first)
    pages.assertWanted(second)
    // Forgotten twice, it makes no room that is not there.
    pages.forget(first)
    pages.add(second, 1_000)
    assert.throws(() => pages.add(reader(), 1), isOverloaded)
    pages.forget(second)
    second.socket.destroy()
    assert.throws(() => pages.assertWanted(second), isOverloaded)
    pages.add(reader(), 1)
  })

  for (const parser of ['fast', 'node'] as const) {
    test(`does not count when its client has left while it was made, with the parser ${parser}`, async () => {
      // One page that is counted for ever keeps all others from being made.
      await using service = await startService({ unreadBytesMax: 1, tokenTrustMs: 60_000 }, { parser })
      const { client } = service
      assert.equal((await client.create(1n, 'n')).status, 200)
      const get = { method: 'GET', target: '/plants?limit=1000' }
      // The first page of a server waits for its thread, so that its client can leave in the meantime.
      const socket = connect({ port: service.port, host: '127.0.0.1' })
      socket.write(encodeRequest(client.token, get), () => socket.resetAndDestroy())
      await until('it is told of', () => aborted(service).some(({ path }) => path === '/plants'))
      for (let count = 0; count < 3; count += 1) assert.equal((await client.request(get)).status, 200)
    })
  }
})

describe('the clock of a connection', () => {
  const msMax = { headersMsMax: 100, requestMsMax: 150, answeringMsMax: 200, keepAliveMsMax: 300 }
  const get = Buffer.from('GET /plants/1 HTTP/1.1\r\nHost: a\r\n\r\n')
  const head = Buffer.from('POST /plants HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n')

  /** A connection of which a test sends the bytes, gives the answers and sets the time. */
  function connect() {
    const stream = new Duplex({ read: () => {}, write: (_bytes, _encoding, done) => done() })
    const clocks: number[] = []
    const socket = Object.assign(stream, { setTimeout: (ms: number) => clocks.push(ms) }) as unknown as Socket
    let nowMs = 0
    const replies: ((reply: Reply) => void)[] = []
    const serve = () => new Promise<Reply>((resolve) => replies.push(resolve))
    const connection = new Connection(socket, { ...optionsOf(msMax, () => nowMs), service: serviceOf(serve) })
    const at = (ms: number): boolean => {
      nowMs = ms
      return connection.hasExpired(ms)
    }
    return { connection, socket, clocks, replies, at }
  }

  test('begins anew with each state; a head and its body share one', async () => {
    const { connection, socket, replies, at } = connect()
    assert.deepEqual([at(99), at(100)], [false, true])
    at(50)
    socket.emit('data', get)
    assert.equal(connection.state, 'answering')
    assert.deepEqual([at(249), at(250)], [false, true])
    replies[0]?.({ status: 204, fields: {} })
    await setImmediate()
    assert.equal(connection.state, 'idle')
    assert.deepEqual([at(549), at(550)], [false, true])
    at(500)
    socket.emit('data', head.subarray(0, 10))
    assert.equal(connection.state, 'head')
    assert.deepEqual([at(599), at(600)], [false, true])
    at(590)
    socket.emit('data', head.subarray(10))
    assert.equal(connection.state, 'body')
    assert.deepEqual([at(649), at(650)], [false, true])
    at(640)
    socket.emit('data', Buffer.from('{}'))
    assert.equal(connection.state, 'answering')
    assert.deepEqual([at(839), at(840)], [false, true])
    socket.destroy()
  })

  test('of unread output runs for a refusal, too', () => {
    const { connection, socket, clocks } = connect()
    Object.defineProperty(socket, 'writableLength', { value: 500 })
    socket.emit('data', Buffer.from('garbage\r\n\r\n'))
    assert.equal(connection.state, 'ending')
    assert.deepEqual(clocks, [limits.unreadMsMax])
    socket.destroy()
  })

  test('stands while an answer is read', () => {
    const { socket, at } = connect()
    socket.emit('data', get)
    Object.defineProperty(socket, 'writableLength', { value: 500, configurable: true })
    assert.equal(at(1_000), false)
    Object.defineProperty(socket, 'writableLength', { value: 0 })
    assert.deepEqual([at(1_199), at(1_200)], [false, true])
    socket.destroy()
  })
})

test('the log of errors tells of clients that were cut off, not of those that left', () => {
  const stream = new PassThrough({ encoding: 'utf8' })
  const observe = createLog({
    level: 'errors',
    stream,
    isTerminal: false,
    hasPriorities: false,
    limits,
    clock: systemClock,
  })
  const request = { kind: 'requestAborted', requestId: 'a-1', method: 'GET', path: '/plants' } as const
  for (const reason of ['clientLeft', 'notRead', 'memoryShort'] as const) observe({ ...request, reason })
  const lines = String(stream.read()).trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).reason),
    ['notRead', 'memoryShort'],
  )
})

test('strangers who use up the descriptors keep nobody out who is in, nor the store from working', async () => {
  await using folder = await makeFolder()
  const under = ['sh', '-c', 'ulimit -n 200 && exec "$0" "$@"']
  await using server = await startServer(folder.file('plants.db'), { under })
  const client = await Client.connect(server)
  await using inside = await client.open()
  assert.equal((await inside.request({ body: plantJson(1n, 'inside') })).status, 200)
  const strangers = Array.from({ length: 300 }, () => {
    const socket = connect({ port: server.port, host: '127.0.0.1' })
    return socket.on('error', () => {})
  })
  const isLetIn = async (): Promise<boolean> => {
    try {
      return (await client.request({ method: 'GET', target: '/livez' })).status === 200
    } catch {
      return false
    }
  }
  await until('there is no room left', async () => !(await isLetIn()))
  assert.equal((await inside.request({ body: plantJson(2n, 'meanwhile') })).status, 200)
  const found = await inside.request({ method: 'GET', target: '/plants?name=in' })
  assert.equal(found.body, '[{"id":1,"name":"inside"}]')
  for (const socket of strangers) socket.destroy()
  await until('there is room again', isLetIn)
  assert.equal(await server.stop(), 0)
})
