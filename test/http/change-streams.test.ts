// Streams of changes, beyond the rows of verify: their events, and when they end.

import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceEvent } from '../../src/domain/events.ts'
import { countStatuses, encodeRequest } from '../support/client.ts'
import { describeOnEngines } from '../support/engines.ts'
import { type Service, serveHere, serveSuite, startService } from '../support/service.ts'
import { addToken, importPlants, openTestStore, revokeToken } from '../support/store.ts'
import { until } from '../support/time.ts'
import { EventReader } from './stream.ts'

/** Opens a stream of a service. */
const follow = ({ port, client }: Service, query = '', token = client.token): Promise<EventReader> =>
  EventReader.open(`http://127.0.0.1:${port}/changes${query}`, token)

/** A request for a stream. */
const streamOf = (token: string, target = '/changes', method = 'GET'): Buffer =>
  encodeRequest(token, { method, target, headers: { Accept: 'text/event-stream' } })

describeOnEngines('a stream of changes', async (engine) => {
  const { place, server, client } = await serveSuite(engine)
  const open = (query: string, headers?: Record<string, string>, token = server.token): Promise<EventReader> =>
    EventReader.open(`${server.url}/changes${query}`, token, headers)

  test('has each change as a page has it, with its position: a stream may be cut anywhere', async () => {
    await using now = await open('?after=now')
    await until('the position', () => now.lastId !== '')
    const start = now.lastId
    await Promise.all([60n, 61n, 62n].map((id) => client.create(id, 'n')))
    const page = await client.request({ method: 'GET', target: `/changes?after=${start}` })
    await using stream = await open(`?after=${start}`)
    for (const { text, events } of [await now.untilCount(3), await stream.untilCount(3)]) {
      assert.equal(`[${events.map(({ data }) => data).join()}]`, page.body)
      // Each id is that of the event with which it comes, or of the one before.
      const ids = [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id).filter((id) => id !== start)
      assert.deepEqual(
        ids.slice(0, 3),
        events.map(({ data }) => (JSON.parse(data) as { readonly position: string }).position),
      )
    }
  })

  test('ends within a second after its token is revoked; others go on', async () => {
    const { id, secret } = await addToken(place.store, 'short')
    await using stream = await open('?after=now', {}, secret)
    await using other = await open('?after=now')
    await revokeToken(place.store, id)
    await stream.untilEnded()
    assert.equal(stream.failure, undefined)
    await client.create(3n, 'a')
    await other.untilCount(1)
    assert.deepEqual([other.hasEnded, stream.events], [false, []])
  })

  test('is for clients that prefer it and GET it; others get a page', async () => {
    const head = { method: 'HEAD', target: '/changes?after=now', headers: { Accept: 'text/event-stream' } }
    const { status, headers } = await client.request(head)
    // The stream has no end, and so no length.
    assert.deepEqual([status, headers.get('content-length')], [200, undefined])
    for (const Accept of ['text/event-stream;q=0', 'application/json, text/event-stream;q=0.5']) {
      const response = await client.request({ method: 'GET', target: '/changes?after=now', headers: { Accept } })
      assert.deepEqual([response.headers.get('content-type'), response.body], ['application/json', '[]'])
    }
    for (const Accept of ['text/event-stream, application/json', 'Text/Event-Stream']) {
      await using stream = await open('?after=now', { Accept })
      assert.equal(stream.headers.get('content-type'), 'text/event-stream')
      await until('the position', () => stream.lastId !== '')
    }
  })

  test('ends when its server stops', async () => {
    await using own = await engine.makePlace()
    const server = await serveHere(own.store)
    await using stream = await EventReader.open(`${server.url}/changes?after=now`, server.token)
    await server.stop()
    await stream.untilEnded()
    assert.equal(stream.failure, undefined)
  })
})

/** Opens streams at once and closes them. Returns how many there were; the others must get `refusal`. */
async function countAtOnce(service: Service, count: number, refusal: number, token?: string): Promise<number> {
  await using streams = new AsyncDisposableStack()
  const opening = Array.from({ length: count }, () => follow(service, '?after=now', token))
  const statuses = countStatuses((await Promise.all(opening)).map((stream) => streams.use(stream)))
  const { 200: opened = 0, [refusal]: refused = 0 } = statuses
  assert.ok(opened + refused === count && opened <= 20, JSON.stringify(statuses))
  return opened
}

describe('the streams of a server', () => {
  test('are no more than it may have, also when they are opened at once', async () => {
    for (const [changed, refusal] of [
      [{ changeStreamsMax: 20, changeStreamsOfCallerMax: 100 }, 503],
      [{ changeStreamsMax: 100, changeStreamsOfCallerMax: 20 }, 429],
    ] as const) {
      await using service = await startService(changed)
      // Those of a round give their places back.
      for (const round of [1, 2]) {
        await until(`20 streams, round ${round}`, async () => (await countAtOnce(service, 30, refusal)) === 20)
      }
      const { secret } = await addToken(service.path, 'other')
      assert.equal(await countAtOnce(service, 20, refusal, secret), 20, 'places are of one token, or of all')
    }
  })

  test('give their places back when they never begin', async () => {
    await using service = await startService({ changeStreamsOfCallerMax: 20 })
    const { token } = service.client
    for (const bytes of [
      streamOf(token, '/changes?after=7-1'),
      streamOf(token, '/changes?after=now', 'HEAD'),
      streamOf(token),
    ]) {
      const leaving = Array.from({ length: 60 }, async (_, index) => {
        const connection = await service.client.open()
        connection.send(bytes)
        // From before the server has read the request until the stream has begun.
        await sleep(index / 10)
        connection.reset()
      })
      await Promise.all(leaving)
      await until('there is room', async () => (await countAtOnce(service, 20, 429)) === 20)
    }
  })

  test('end when the body of their request does not come, with nothing written into them', async () => {
    await using service = await startService({ requestMsMax: 300, connectionCheckMs: 20 })
    const socket = connect(service.port, '127.0.0.1')
    const headers = { Accept: 'text/event-stream', 'Content-Length': '5' }
    socket.write(encodeRequest(service.client.token, { method: 'GET', target: '/changes', headers }))
    const text = Buffer.concat(await socket.toArray()).toString()
    assert.equal(text.split('HTTP/1.1').length - 1, 1, text)
  })

  test('are one request each in the log, whether server or client ends them', async () => {
    await using service = await startService({})
    const { events, path } = service
    const isStream = (event: ServiceEvent): boolean => event.kind === 'requestFinished' && event.isStream === true
    {
      await using stream = await follow(service)
      await until('the position', () => stream.lastId !== '')
    }
    await until('the end of the first', () => events.filter(isStream).length === 1)
    const { id, secret } = await addToken(path, 'other')
    await using stream = await follow(service, '', secret)
    await revokeToken(path, id)
    await stream.untilEnded()
    await until('the end of the second', () => events.filter(isStream).length === 2)
    assert.ok(events.every(({ kind }) => kind !== 'requestAborted'))
  })

  test('show that they are alive, and how far they have looked', async () => {
    const soon = { changeStreamCommentMs: 30, changeStreamCheckMs: 5, changeStreamPollMs: 5 }
    await using service = await startService(soon)
    await using stream = await follow(service, '?kind=deleted')
    await until('comments', () => stream.comments > 2)
    const start = stream.lastId
    await service.client.create(1n, 'n')
    await until('the position after a change of another kind', () => stream.lastId !== start)
    assert.deepEqual(stream.events, [])
  })

  test('of one kind go on past any number of other changes', async () => {
    await using service = await startService({ changeStreamPage: 2 })
    const { client } = service
    for (let id = 0n; id < 20n; id += 1n) await client.create(id, 'n')
    await client.request({ method: 'DELETE', target: '/plants/7' })
    await using stream = await follow(service, '?kind=deleted')
    await stream.untilCount(1)
    assert.match(stream.text, /"id":7[,}]/)
  })

  test('end when their position is swept', async () => {
    const sweeping = { changesSweepMs: 5, changesKeptMsMin: 0, changeStreamPollMs: 100 }
    await using service = await startService(sweeping, { changesKept: '0' })
    await using stream = await follow(service, '?after=now')
    let id = 0n
    await until('its position is swept between two looks', async () => {
      id += 1n
      await service.client.create(id, 'n')
      return stream.hasEnded
    })
    assert.equal(stream.failure, undefined)
    await using again = await follow(service, `?after=${stream.lastId}`)
    assert.equal(again.status, 410)
  })

  test('that are not read hold few bytes, each and in total, and continue once they are read', async () => {
    const changeStreamUnreadBytesMax = 64 * 1024
    const unreadBytesMax = 600_000
    // What is written at once: two rows of the log at the most.
    const pageBytesMax = 180_000
    await using service = await startService({
      changeStreamUnreadBytesMax,
      unreadBytesMax,
      changePageCharactersMax: 10_000_000,
      changeStreamPollMs: 5,
      connectionCheckMs: 60_000,
    })
    const { client, port } = service
    await using cleanup = new AsyncDisposableStack()
    const responses: ServerResponse[] = []
    const note = (message: unknown) => responses.push((message as { readonly response: ServerResponse }).response)
    const openUnread = async (count: number): Promise<readonly Socket[]> => {
      responses.length = 0
      subscribe('http.server.request.start', note)
      const sockets = Array.from({ length: count }, () => connect({ port, host: '127.0.0.1' }).pause())
      for (const socket of sockets) {
        cleanup.defer(() => void socket.destroy())
        socket.write(streamOf(client.token))
      }
      await until('all are open', () => responses.filter(({ headersSent }) => headersSent).length === count)
      unsubscribe('http.server.request.start', note)
      return sockets
    }
    const unread = (): readonly number[] => responses.map(({ writableLength }) => writableLength)
    const total = (): number => unread().reduce((sum, bytes) => sum + bytes, 0)

    const sockets = await openUnread(12)
    // More than the system takes in place of a client.
    const plants = 1_000
    const [name, tag] = ['\u0001'.repeat(1_024), '\u0001'.repeat(256)]
    {
      await using store = await openTestStore(service.path, { exclusive: false })
      const all = Array.from({ length: plants }, (_, id) => ({ id: BigInt(id), name, tag }))
      await importPlants(store, all)
    }
    await until('much is unread', () => total() >= unreadBytesMax)
    // Many looks at the log.
    await sleep(300)
    assert.ok(Math.max(...unread()) < changeStreamUnreadBytesMax + pageBytesMax, `${unread()}`)
    assert.ok(total() < unreadBytesMax + pageBytesMax, `${unread()}`)
    await using refused = await follow(service)
    assert.equal(refused.status, 503)
    const counts = sockets.map(countEvents)
    await until('all of them have all changes', () => counts.every((count) => count() === plants))

    await openUnread(1)
    await until('some is unread', () => total() >= changeStreamUnreadBytesMax)
    await sleep(300)
    assert.ok(total() < changeStreamUnreadBytesMax + pageBytesMax, `${unread()}`)
  })

  test('that are not read are cut, and others are not affected', async () => {
    await using service = await startService({ unreadMsMax: 300, connectionCheckMs: 20, changeStreamPollMs: 5 })
    const { client, events } = service
    await using unread = await client.open()
    unread.pause()
    unread.send(streamOf(client.token))
    await using stream = await follow(service)
    const name = '\u0001'.repeat(1_024)
    await using connection = await client.open()
    const isCut = (): boolean => events.some((event) => event.kind === 'requestAborted' && event.reason === 'notRead')
    let id = 0n
    for (; !isCut(); id += 1n) await connection.request({ body: JSON.stringify({ id: Number(id), name }) })
    await stream.untilCount(Number(id))
    assert.equal(stream.hasEnded, false)
  })
})

/** Reads a stream, and counts its events. */
function countEvents(socket: Socket): () => number {
  const mark = '\ndata: '
  let [count, rest] = [0, '']
  socket.on('data', (bytes: Buffer) => {
    const pieces = `${rest}${bytes.toString('latin1')}`.split(mark)
    count += pieces.length - 1
    rest = (pieces.at(-1) ?? '').slice(1 - mark.length)
  })
  socket.resume()
  return () => count
}
