// Connections without a network: the test provides the bytes, the responses and the time.

import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { Server, Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { describe, test } from 'node:test'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/domain/clock.ts'
import { LargeAnswers } from '../../src/http/large-answers.ts'
import type { Reply } from '../../src/http/request.ts'
import type { Service } from '../../src/http/service.ts'
import { Connection, type ConnectionOptions } from '../../src/http/wire/connection.ts'
import { Connections } from '../../src/http/wire/connections.ts'
import { createParser } from '../../src/http/wire/node-parser.ts'
import { createPeers } from '../../src/http/wire/peers.ts'
import { type Limits, limits } from '../../src/limits.ts'

/** The options of a connection, with a clock of the test. */
function optionsOf(changed: Partial<Limits>, monotonicMs: () => number, serve: Service['serve']): ConnectionOptions {
  const own = { ...limits, ...changed }
  const refuseBytes = (): Reply => ({ status: 400, fields: {}, body: '' })
  return {
    limits: own,
    clock: { ...systemClock, monotonicMs },
    service: { serve, refuseBytes, noteSent: () => {}, noteAborted: () => {} } as unknown as Service,
    openParser: createParser(own),
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

describe('a connection', () => {
  const msMax = { headersMsMax: 100, requestMsMax: 150, answeringMsMax: 200, keepAliveMsMax: 300 }
  const get = Buffer.from('GET /plants/1 HTTP/1.1\r\nHost: a\r\n\r\n')
  const head = Buffer.from('POST /plants HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n')

  /** A connection of which a test sends the bytes, gives the answers and sets the time. */
  function connect() {
    const stream = new Duplex({ read: () => {}, write: (_bytes, _encoding, done) => done() })
    const setTimeout = (timeout: number) => Object.assign(stream, { timeout })
    const socket = Object.assign(stream, { setTimeout }) as unknown as Socket & { readonly timeout?: number }
    let nowMs = 0
    const replies: ((reply: Reply) => void)[] = []
    const serve = () => new Promise<Reply>((resolve) => replies.push(resolve))
    const now = (): number => nowMs
    /** The bytes of arriving requests that were reported. */
    const held: number[] = []
    const onArriving = ({ arrivingBytes }: Connection): void => void held.push(arrivingBytes)
    const connection = new Connection(socket, { ...optionsOf(msMax, now, serve), onArriving })
    const at = (ms: number): boolean => {
      nowMs = ms
      return connection.hasExpired(ms)
    }
    /** Sets how many bytes of output are unread. */
    const leaveUnread = (value: number) =>
      Object.defineProperty(socket, 'writableLength', { value, configurable: true })
    return { connection, socket, replies, held, at, leaveUnread }
  }

  test('has a clock that begins anew with each state; a head and its body share one', async () => {
    const { connection, socket, replies, at } = connect()
    for (const [fromMs, state, lastMs, begin] of [
      [0, 'head', 99, () => {}],
      [50, 'answering', 249, () => socket.emit('data', get)],
      [250, 'idle', 549, () => replies[0]?.({ status: 204, fields: {} })],
      [500, 'head', 599, () => socket.emit('data', head.subarray(0, 10))],
      [590, 'body', 649, () => socket.emit('data', head.subarray(10))],
      [640, 'answering', 839, () => socket.emit('data', Buffer.from('{}'))],
    ] as const) {
      at(fromMs)
      begin()
      await setImmediate()
      assert.deepEqual([connection.state, at(lastMs), at(lastMs + 1)], [state, false, true])
    }
    socket.destroy()
  })

  test('has a clock that stands while an answer is read, and another one for that', async () => {
    const { socket, at, replies, leaveUnread } = connect()
    socket.emit('data', get)
    leaveUnread(500)
    replies[0]?.({ status: 204, fields: {} })
    await Promise.resolve()
    assert.equal(socket.timeout, limits.unreadMsMax)
    assert.equal(at(1_000), false)
    leaveUnread(0)
    socket.emit('timeout')
    assert.deepEqual([at(1_199), at(1_200), socket.destroyed], [false, true, false])
    leaveUnread(500)
    socket.emit('timeout')
    assert.ok(socket.destroyed)
  })

  test('has a clock of unread output for a refusal, too, and input does not restart it', async () => {
    const { connection, socket, at, leaveUnread } = connect()
    leaveUnread(500)
    socket.emit('data', Buffer.from('garbage\r\n\r\n'))
    assert.equal(connection.state, 'ending')
    assert.equal(socket.timeout, limits.unreadMsMax)
    assert.ok(socket.isPaused())
    assert.equal(at(50_000), false)
    leaveUnread(0)
    assert.deepEqual([at(50_000 + limits.unreadMsMax - 1), at(50_000 + limits.unreadMsMax)], [false, true])
    // Once the system has the output, what still comes is read, so that the client can read it.
    await once(socket, 'finish')
    assert.ok(!socket.isPaused())
    socket.destroy()
  })

  test('holds nothing of a head any more once it is reset', async () => {
    const { connection, socket, held } = connect()
    socket.emit('data', get.subarray(0, 10))
    assert.deepEqual(held, [10])
    socket.destroy()
    await once(socket, 'close')
    assert.deepEqual([held.at(-1), connection.arrivingBytes], [0, 0])
  })

  test('reads nothing more behind another request, or a broken body, before the answer is sent', async () => {
    const broken = Buffer.from('POST /plants HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n')
    for (const bytes of [broken, Buffer.concat([get, get])]) {
      const { connection, socket, replies, leaveUnread } = connect()
      leaveUnread(500)
      socket.emit('data', bytes)
      assert.equal(connection.state, 'answering')
      assert.ok(socket.isPaused())
      replies[0]?.({ status: 400, fields: {}, isLast: true })
      await once(socket, 'finish')
      assert.equal(connection.state, 'ending')
      socket.destroy()
    }
  })
})

test('a reader may take a while when much is unread, but not too much', async () => {
  let nowMs = 0
  const times = { slowReaderMs: 2_000, connectionCheckMs: 1, unreadMsMax: 1_000_000, stopGraceMs: 0 }
  const now = (): number => nowMs
  const connections = new Connections(optionsOf({ unreadBytesMax: 1_000, ...times }, now, () => assert.fail()))
  const sockets = [550, 300].map((writableLength) => {
    const socket = new Socket()
    const writable = true
    const value = { writableLength: { value: writableLength, writable }, bytesWritten: { value: 0, writable } }
    connections.add(Object.defineProperties(socket, value))
    return socket
  })
  const cutAt = async (atMs: number): Promise<readonly boolean[]> => {
    nowMs = atMs
    await sleep(20)
    return sockets.map(({ destroyed }) => destroyed)
  }
  assert.deepEqual(await cutAt(0), [false, false])
  Object.assign(sockets[0] as Socket, { bytesWritten: 1 })
  for (const ms of [1_000, 1_999]) assert.deepEqual(await cutAt(ms), [false, false])
  // Either would be enough. The second one has read nothing for longer.
  assert.deepEqual(await cutAt(3_500), [false, true])
  Object.assign(sockets[0] as Socket, { writableLength: 900 })
  assert.deepEqual(await cutAt(4_000), [true, true])
  await connections.drain(new Server())
})

test('a connection of the grace period is not closed before its first request, unlike an older one', async () => {
  let nowMs = 0
  let looks = 0
  let served = 0
  const times = { stopGraceMs: 10, drainMsMax: 60_000 }
  const asking = Object.assign(new Duplex({ read: () => {}, write: () => {} }), { setTimeout: () => asking })
  /** Once the server holds, it looks again and again. A request that comes then is taken later. */
  const now = (): number => {
    looks += 1
    if (looks === 5) asking.push('GET /plants/1 HTTP/1.1\r\nHost: a\r\n\r\n')
    return nowMs
  }
  const serve = (): Promise<Reply> => {
    served += 1
    return new Promise(() => {})
  }
  const connections = new Connections(optionsOf(times, now, serve))
  const [old, late] = [new Socket(), new Socket()]
  connections.add(old)
  nowMs = 100
  for (const socket of [late, asking as unknown as Socket]) connections.add(socket)
  looks = 0
  const server = Object.assign(new EventEmitter(), { close: () => {} }) as unknown as Server
  const drained = connections.drain(server)
  await once(old, 'close')
  await sleep(60)
  const isClosed = late.destroyed
  for (const socket of [late, asking]) socket.destroy()
  server.emit('close')
  await drained
  assert.deepEqual([isClosed, served], [false, 1])
})

for (const [busyMs, isAll] of [
  [450, true],
  [550, false],
] as const)
  test(`a busy stop ${isAll ? 'listens on while connections come' : 'does not listen on forever'}`, async () => {
    let nowMs = 0
    const times = { stopGraceMs: 0, drainMsMax: 60_000 }
    const connections = new Connections(
      optionsOf(
        times,
        () => nowMs,
        () => assert.fail(),
      ),
    )
    const server = Object.assign(new EventEmitter(), { close: () => server.emit('close') })
    const drained = connections.drain(server as unknown as Server).then(() => connections.count)
    // Each look sees at least one, because its timer is as long as this one.
    for (let count = 0; count < 20; count += 1) {
      connections.add(new Socket())
      if (count === 10) nowMs = busyMs
      await sleep(1)
    }
    assert.equal((await drained) === 20, isAll)
  })
