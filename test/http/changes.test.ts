// The log of changes over HTTP, in pages and as a stream. The store suite has the rules of the log itself.

import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Change, PlantStoreClient } from '../../client/client.ts'
import { fromJson } from '../../client/exact-json.ts'
import type { ServiceEvent } from '../../src/domain/events.ts'
import { limits } from '../../src/limits.ts'
import { startSweeping } from '../../src/serve/sweeping.ts'
import { type Client, countStatuses, encodeRequest, type HttpResponse } from '../support/client.ts'
import { describeOnEngines } from '../support/engines.ts'
import { onService, type Service, serveHere, serveSuite, startService } from '../support/service.ts'
import { addToken, importBeside, revokeToken } from '../support/store.ts'
import { until } from '../support/time.ts'

const changesOf = ({ body }: HttpResponse): readonly Change[] => fromJson(body) as readonly Change[]
const nextOf = ({ headers }: HttpResponse): string => /^<(.*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] ?? ''
const read = (client: Client, target: string): Promise<HttpResponse> => client.request({ method: 'GET', target })

describeOnEngines('GET /changes', async (engine) => {
  const { server, client } = await serveSuite(engine)
  const store = new PlantStoreClient(server)

  test('copies a store without a gap: the position first, then the list, then the changes', async () => {
    const changing = new AbortController()
    const changes = async (): Promise<void> => {
      for (let id = 1_000n; !changing.signal.aborted; id += 1n) {
        await client.create(id, 'n')
        if (id % 3n === 0n) await client.request({ method: 'DELETE', target: `/plants/${id - 1n}` })
        if (id % 3n === 1n) await client.request({ method: 'PUT', target: `/plants/${id}`, body: '{"name":"m"}' })
      }
    }
    const running = changes()
    try {
      const [, after] = /after=([^&]+)/.exec(nextOf(await read(client, '/changes?after=now'))) ?? []
      const list = async () => (await Array.fromAsync(store.listPlants({ limit: 7 }))).map(({ id, name }) => [id, name])
      const copy = new Map((await list()) as [bigint, string][])
      await sleep(100)
      changing.abort()
      await running
      for await (const { kind, plant } of store.listChanges({ after })) {
        if (kind === 'deleted') copy.delete(plant.id)
        else copy.set(plant.id, plant.name)
      }
      assert.deepEqual([...copy].toSorted(), (await list()).toSorted())
    } finally {
      changing.abort()
      await running
    }
  })
})

describe('the log of changes of a server', () => {
  test('loses changes older than --changes-kept, and reports that', async () => {
    await using service = await startService({ changesSweepMs: 5, changesKeptMsMin: 0 }, { changesKept: '0' })
    const start = nextOf(await read(service, '/changes?after=now'))
    for (let id = 0n; id < 5n; id += 1n) await service.create(id, 'n')
    await until('the changes are gone', async () => (await read(service, start)).status === 410)
    // The last one stays: who has read it may go on from it.
    await until('one is left', async () => changesOf(await read(service, '/changes')).length === 1)
    const next = nextOf(await read(service, '/changes'))
    await sleep(50)
    assert.equal((await read(service, next)).status, 200)
    await service.create(9n, 'n')
  })

  test('keeps changes for ten minutes at least, in which a commit may be looked up', async () => {
    const swept: number[] = []
    const store = {
      listWebhooks: async () => [],
      measure: async () => ({ plants: 0, bytes: 0, changesBytes: 0 }),
      sweepChanges: async (untilMs: number) => {
        swept.push(untilMs)
        return false
      },
    }
    const clock = { wallMs: () => 1_000_000, monotonicMs: () => 0 }
    using _sweeping = startSweeping(store, 0, clock, { ...limits, changesSweepMs: 1 })
    await until('it sweeps', () => swept.length > 0)
    assert.equal(swept[0], 400_000)
  })
})

/** Opens a stream of a service. */
const follow = ({ url, token: own }: Service, query = '', token = own) => openStream(`${url}/changes${query}`, token)

/** A request for a stream. */
const streamOf = (token: string, target = '/changes', method = 'GET'): Buffer =>
  encodeRequest(token, { method, target, headers: { Accept: 'text/event-stream' } })

describeOnEngines('a stream of changes', async (engine) => {
  const { server, client } = await serveSuite(engine)
  const open = (query: string) => openStream(`${server.url}/changes${query}`, server.token)

  test('has each change as a page has it, with its position: a stream may be cut anywhere', async () => {
    await using now = await open('?after=now')
    await now.untilBegun()
    const [start = ''] = now.ids()
    await Promise.all([60n, 61n, 62n].map((id) => client.create(id, 'n')))
    const page = await client.request({ method: 'GET', target: `/changes?after=${start}` })
    await using stream = await open(`?after=${start}`)
    for (const each of [now, stream]) {
      await each.untilCount(3)
      assert.equal(`[${each.events()}]`, page.body)
      // Each id is that of the event with which it comes, or of the one before.
      const ids = each.ids().filter((id) => id !== start)
      const positions = ids.slice(0, 3)
      const expected = changesOf(page).map(({ position }) => position)
      assert.deepEqual(positions, expected)
    }
  })

  test('has no end, and so no length', async () => {
    const head = { method: 'HEAD', target: '/changes?after=now', headers: { Accept: 'text/event-stream' } }
    const { status, headers } = await client.request(head)
    assert.deepEqual([status, headers.get('content-length')], [200, undefined])
  })

  test('ends when its server stops', async () => {
    await using own = await engine.makePlace()
    const server = await serveHere(own.store)
    await using stream = await openStream(`${server.url}/changes?after=now`, server.token)
    await server.stop()
    await stream.untilEnded()
    assert.equal(stream.failure, undefined)
  })
})

/** Their changes are more than the system takes in place of a client. */
const [name, tag] = ['\u0001'.repeat(1_024), '\u0001'.repeat(256)]
const longPlants = Array.from({ length: 1_000 }, (_, id) => ({ id: BigInt(id), name, tag }))

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
    const { token } = service
    for (const bytes of [
      streamOf(token, '/changes?after=7-1'),
      streamOf(token, '/changes?after=now', 'HEAD'),
      streamOf(token),
    ]) {
      const leaving = Array.from({ length: 60 }, async (_, index) => {
        const connection = await service.open()
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
    socket.write(encodeRequest(service.token, { method: 'GET', target: '/changes', headers }))
    const text = Buffer.concat(await socket.toArray()).toString()
    assert.equal(text.split('HTTP/1.1').length - 1, 1, text)
  })

  onService('are one request each in the log, whether server or client ends them', async (service) => {
    const { events, path } = service
    const isStream = (event: ServiceEvent): boolean => event.kind === 'requestFinished' && event.isStream === true
    {
      await using stream = await follow(service)
      await stream.untilBegun()
    }
    await until('the end of the first', () => events.filter(isStream).length === 1)
    const { id, secret } = await addToken(path, 'other')
    await using stream = await follow(service, '', secret)
    await using other = await follow(service)
    await other.untilBegun()
    await revokeToken(path, id)
    await stream.untilEnded()
    assert.deepEqual([stream.failure, other.hasEnded], [undefined, false])
    await until('the end of the second', () => events.filter(isStream).length === 2)
    assert.ok(events.every(({ kind }) => kind !== 'requestAborted'))
  })

  test('show that they are alive, and how far they have looked', async () => {
    const soon = { changeStreamCommentMs: 30, changeStreamCheckMs: 5, changeStreamPollMs: 5 }
    await using service = await startService(soon)
    await using stream = await follow(service, '?kind=deleted')
    await until('comments', () => stream.comments() > 2)
    const start = stream.ids().at(-1)
    await service.create(1n, 'n')
    await until('the position after a change of another kind', () => stream.ids().at(-1) !== start)
    assert.deepEqual(stream.events(), [])
  })

  test('end when their position is swept', async () => {
    const sweeping = { changesSweepMs: 5, changesKeptMsMin: 0, changeStreamPollMs: 100 }
    await using service = await startService(sweeping, { changesKept: '0' })
    await using stream = await follow(service, '?after=now')
    let id = 0n
    await until('its position is swept between two looks', async () => {
      id += 1n
      await service.create(id, 'n')
      return stream.hasEnded
    })
    assert.equal(stream.failure, undefined)
    await using again = await follow(service, `?after=${stream.ids().at(-1)}`)
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
    const { port } = service
    await using cleanup = new AsyncDisposableStack()
    const responses: ServerResponse[] = []
    const note = (message: unknown) => responses.push((message as { readonly response: ServerResponse }).response)
    const openUnread = async (count: number): Promise<readonly Socket[]> => {
      responses.length = 0
      subscribe('http.server.request.start', note)
      const sockets = Array.from({ length: count }, () => connect({ port, host: '127.0.0.1' }).pause())
      for (const socket of sockets) {
        cleanup.defer(() => void socket.destroy())
        socket.write(streamOf(service.token))
      }
      await until('all are open', () => responses.filter(({ headersSent }) => headersSent).length === count)
      unsubscribe('http.server.request.start', note)
      return sockets
    }
    const unread = (): readonly number[] => responses.map(({ writableLength }) => writableLength)
    const total = (): number => unread().reduce((sum, bytes) => sum + bytes, 0)

    const sockets = await openUnread(12)
    await importBeside(service.path, longPlants)
    await until('much is unread', () => total() >= unreadBytesMax)
    // Many looks at the log.
    await sleep(300)
    assert.ok(Math.max(...unread()) < changeStreamUnreadBytesMax + pageBytesMax, `${unread()}`)
    assert.ok(total() < unreadBytesMax + pageBytesMax, `${unread()}`)
    await using refused = await follow(service)
    assert.equal(refused.status, 503)
    const counts = sockets.map(countEvents)
    await until('all of them have all changes', () => counts.every((count) => count() === longPlants.length))

    await openUnread(1)
    await until('some is unread', () => total() >= changeStreamUnreadBytesMax)
    await sleep(300)
    assert.ok(total() < changeStreamUnreadBytesMax + pageBytesMax, `${unread()}`)
  })

  test('that are not read are cut, and others are not affected', async () => {
    const limits = { unreadMsMax: 300, unreadBytesMax: 60_000, connectionCheckMs: 60_000, changeStreamPollMs: 5 }
    await using service = await startService(limits)
    const { events } = service
    await using unread = await service.open()
    unread.pause()
    unread.send(streamOf(service.token))
    await using stream = await follow(service)
    await importBeside(service.path, longPlants)
    const isCut = (event: ServiceEvent): boolean => event.kind === 'requestAborted' && event.reason === 'notRead'
    await until('one is cut', () => events.some(isCut))
    await stream.untilCount(longPlants.length)
    assert.equal(stream.hasEnded, false)
    const isListed = async () => (await read(service, '/plants?limit=1')).status === 200
    await until('what was unread does not count any more', isListed, 5_000)
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

/** Opens a stream and reads it until the end of its scope. */
async function openStream(url: string, token: string) {
  const stopping = new AbortController()
  const headers = { Accept: 'text/event-stream', Authorization: `Bearer ${token}` }
  const { status, body } = await fetch(url, { headers, signal: stopping.signal })
  const stream = { status, text: '', hasEnded: false, failure: undefined as unknown }
  const read = async (): Promise<void> => {
    for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) stream.text += piece
  }
  const reading = read()
    .catch((cause) => Object.assign(stream, { failure: cause }))
    .finally(() => Object.assign(stream, { hasEnded: true }))
  /** The rest of all lines that begin with a text, in events that have come as a whole. */
  const linesOf = (beginning: string): readonly string[] =>
    stream.text
      .slice(0, stream.text.lastIndexOf('\n\n') + 1)
      .split('\n')
      .flatMap((line) => (line.startsWith(beginning) ? [line.slice(beginning.length)] : []))
  return Object.assign(stream, {
    /** The data of its events. */
    events: () => linesOf('data: '),
    /** All positions, be they those of an event or not. */
    ids: () => linesOf('id: '),
    comments: () => linesOf(':').length,
    untilBegun: () => until('the position', () => linesOf('id: ').length > 0),
    untilCount: (count: number) => until(`${count} events`, () => linesOf('data: ').length >= count),
    untilEnded: () => until('the end of the stream', () => stream.hasEnded),
    [Symbol.asyncDispose]: async () => {
      stopping.abort()
      await reading
    },
  })
}
