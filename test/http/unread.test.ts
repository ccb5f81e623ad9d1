// Clients that do not read, break off or leave: their requests end, each is reported once, and others are served.

import assert from 'node:assert/strict'
import { connect, Socket } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import type { RequestAborted, ServiceEvent } from '../../src/domain/events.ts'
import { LargeAnswers } from '../../src/http/large-answers.ts'
import type { RequestConnection } from '../../src/http/request.ts'
import { limits } from '../../src/limits.ts'
import { Client, type Connection, encodeRequest, plantJson } from '../support/client.ts'
import { onFolder } from '../support/folder.ts'
import { startServer } from '../support/program.ts'
import { onService, type Service, startService } from '../support/service.ts'
import { importBeside } from '../support/store.ts'
import { until } from '../support/time.ts'

/** More than the system takes in place of the client. */
const manyDocuments = Buffer.concat(Array(400).fill(encodeRequest('', { method: 'GET', target: '/openapi.json' })))

/** A client that sends requests and reads nothing. */
function neverRead({ port }: Service, bytes: Buffer): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  socket.pause().write(bytes)
  return socket
}

function aborted({ events }: Service): readonly RequestAborted[] {
  return events.filter((event) => event.kind === 'requestAborted')
}

describe('an answer that is not read', { concurrency: true }, () => {
  test('ends its connection after a while, and is an event', async () => {
    await using service = await startService({ unreadMsMax: 300 })
    const socket = neverRead(service, manyDocuments)
    await until('it is cut off', () => aborted(service).length > 0)
    for (const { method, path, reason } of aborted(service)) {
      assert.deepEqual([method, path, reason], ['GET', '/openapi.json', 'notRead'])
    }
    socket.destroy()
  })

  onService('is not lost when it is the last one and more is sent behind it', async (service) => {
    const wanted = 6
    const target = '/openapi.yaml'
    const get = (headers = {}): Buffer => encodeRequest('', { method: 'GET', target, headers })
    const last = get({ Connection: 'close' })
    const socket = neverRead(service, Buffer.concat([...Array(wanted - 1).fill(get()), last]))
    const isWritten = (event: ServiceEvent): boolean => event.kind === 'requestFinished' && event.path === target
    await until('all answers are with the system', () => service.events.filter(isWritten).length === wanted)
    // Some of them still are there, as the client has not read them. A connection that is closed now is reset.
    socket.write(get())
    const text = Buffer.concat(await socket.toArray({ signal: AbortSignal.timeout(15_000) })).toString()
    assert.equal(text.split('HTTP/1.1 200 OK').length - 1, wanted)
  })

  test('goes first when too much waits, and others are served meanwhile', async () => {
    await using service = await startService({ unreadBytesMax: 256 * 1024, connectionCheckMs: 20, slowReaderMs: 40 })
    const sockets = Array.from({ length: 12 }, () => neverRead(service, manyDocuments))
    await until('some are cut off', () => aborted(service).some(({ reason }) => reason === 'memoryShort'))
    assert.equal((await service.request({ method: 'GET', target: '/livez' })).status, 200)
    for (const socket of sockets) socket.destroy()
  })

  test('keeps large pages from being made while too much waits', async () => {
    const limits = { unreadBytesMax: 256 * 1024, connectionCheckMs: 60_000, tokenTrustMs: 60_000 }
    await using service = await startService(limits)
    const name = '\u{1f33f}'.repeat(512)
    const plants = Array.from({ length: 250 }, (_, id) => ({ id: BigInt(id), name }))
    await importBeside(service.path, plants)
    const page = { method: 'GET', target: '/plants?limit=250' }
    const socket = neverRead(service, Buffer.concat(Array(200).fill(encodeRequest(service.token, page))))
    await until('a page is refused', async () => (await service.request(page)).status === 503)
    assert.equal(JSON.parse((await service.request(page)).body).error, 50301)
    assert.equal((await service.request({ method: 'GET', target: '/plants/1' })).status, 200)
    socket.destroy()
    await until('a page is made', async () => (await service.request(page)).status === 200)
  })

  test('keeps a page from being written that was looked for when less waited', async () => {
    const pages = new LargeAnswers({ ...limits, unreadBytesMax: 1_000 })
    const reader = (): RequestConnection => ({ socket: new Socket(), hasLeft: false, onceDone: () => {} })
    const [first, second] = [reader(), reader()]
    const isOverloaded = { code: 'overloaded' }
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

  test('waits while the one before it in this turn of the event loop was long', async () => {
    const pages = new LargeAnswers(limits)
    let made = 0
    const make = async (): Promise<void> => {
      const turn = pages.begin()
      // A store answers with a promise.
      if (turn !== undefined) await turn.then(() => Promise.resolve())
      made += 1
      pages.add({ socket: new Socket(), hasLeft: false, onceDone: () => {} }, 500_000)
    }
    for (let count = 0; count < 20; count += 1) void make()
    const madeOfTurn = [made]
    for (let before = made; made < 20; before = made) {
      await new Promise((resolve) => setImmediate(resolve))
      madeOfTurn.push(made - before)
    }
    assert.ok(Math.max(...madeOfTurn) <= 2, `${madeOfTurn}`)
  })

  for (const parser of ['fast', 'node'] as const) {
    test(`does not count when its client has left, or has read it and stays, with the parser ${parser}`, async () => {
      // One page that is counted for ever keeps all others from being made.
      await using service = await startService({ unreadBytesMax: 1, tokenTrustMs: 60_000 }, { parser })
      assert.equal((await service.create(1n, 'n')).status, 200)
      const get = { method: 'GET', target: '/plants?limit=1000' }
      // The first page of a server waits for its thread, so that its client can leave in the meantime.
      const socket = connect(service.port, '127.0.0.1')
      socket.write(encodeRequest(service.token, get), () => socket.resetAndDestroy())
      await until('it is told of', () => aborted(service).some(({ path }) => path === '/plants'))
      await using idle = await service.open()
      for (const client of [idle, service, service]) assert.equal((await client.request(get)).status, 200)
    })
  }
})

onFolder('clients that use up the descriptors block neither open connections nor the store', async (folder) => {
  const under = ['sh', '-c', 'ulimit -n 200 && exec "$0" "$@"']
  await using server = await startServer(folder.file('plants.db'), { under })
  const client = await Client.connect(server)
  await using inside = await client.open()
  assert.equal((await inside.request({ body: plantJson(1n, 'inside') })).status, 200)
  const strangers = Array.from({ length: 300 }, () => connect(server.port, '127.0.0.1').on('error', () => {}))
  const livez = { method: 'GET', target: '/livez' }
  const isLetIn = async (): Promise<boolean> => (await client.request(livez).catch(() => undefined))?.status === 200
  await until('there is no room left', async () => !(await isLetIn()))
  const found = await inside.request({ method: 'GET', target: '/plants?name=in' })
  assert.equal(found.body, '[{"id":1,"name":"inside"}]')
  assert.equal((await inside.request({ body: plantJson(2n, 'meanwhile') })).status, 200)
  for (const socket of strangers) socket.destroy()
  await until('there is room again', isLetIn)
  assert.equal(await server.stop(), 0)
})

describe('a request that breaks', () => {
  for (const [leaves, leave] of [
    ['ends', (connection: Connection) => connection.finish()],
    ['closes', (connection: Connection) => connection[Symbol.asyncDispose]()],
    ['resets', (connection: Connection) => connection.reset()],
  ] as const) {
    test(`in a body that nobody wanted, or before its caller is known, is one event if its client ${leaves}`, async () => {
      await using service = await startService({})
      const seen = service.events.length
      const { token: own } = service
      for (const [method, target, token, status] of [
        ['POST', '/plants', '', 401],
        ['POST', '/plants', own, 400],
        ['GET', '/plants/1', own, 400],
        ['DELETE', '/plants/1', own, 400],
      ] as const) {
        await using connection = await service.open()
        const headers = { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' }
        connection.send(`${encodeRequest(token, { method, target, headers })}xyz\r\n`)
        assert.equal((await connection.answerTo(method, target)).status, status)
        await leave(connection)
        if (leaves === 'ends') await connection.closed()
      }
      await until('they are closed', () => service.events.length >= seen + 4)
      // A second event would come before this one.
      await service.request({ method: 'GET', target: '/livez' })
      const told = service.events.slice(seen).map((event) => 'status' in event && event.status)
      assert.deepEqual(told, [401, 400, 400, 400, 200])
    })
  }

  test('because its client goes away before its answer is an event, and is done all the same', async () => {
    await using service = await startService({ storeBusyMsMax: 60_000 })
    // Held by somebody else, the store has the create wait.
    using other = new DatabaseSync(service.path)
    other.exec('BEGIN IMMEDIATE')
    const connection = await service.open()
    const create = encodeRequest(service.token, { body: plantJson(1n, 'n'), target: '/plants?secret=x' })
    // Sent at once: when the first is answered the second is being done.
    connection.send(Buffer.concat([encodeRequest('', { method: 'GET', target: '/livez' }), create]))
    await connection.answerTo('GET', '/livez')
    connection.reset()
    await until('the client is noticed to be gone', () => aborted(service).length > 0)
    other.exec('ROLLBACK')
    const read = { method: 'GET', target: '/plants/1' }
    await until('the plant is there', async () => (await service.request(read)).status === 200)
    const [event, ...more] = aborted(service)
    assert.match(event?.requestId ?? '', /^\w+-\w+$/)
    assert.deepEqual([event?.method, event?.path, event?.reason, more], ['POST', '/plants', 'clientLeft', []])
    assert.ok(!service.events.some((other) => 'status' in other && other.requestId === event?.requestId))
  })
})
