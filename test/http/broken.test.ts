// What breaks in the middle of a body or leaves before its answer: never a second answer, and told of once.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { type ErrorCode, errorNumbers } from '../../src/domain/errors.ts'
import { type Client, type Connection, encodeRequest, plantJson } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/time.ts'

const head = (...lines: string[]): string => `${lines.join('\r\n')}\r\n\r\n`
const host = 'Host: plants.example'
const json = 'Content-Type: application/json'

describe('broken requests', () => {
  test('what comes after the first refusal is thrown away unseen', async () => {
    await using service = await startService({})
    await using connection = await service.client.open()
    connection.send('garbage\r\n\r\n')
    checkProblem(await connection.answer(), 400, 'malformedRequest')
    for (let count = 0; count < 20; count += 1) {
      connection.send('more garbage\r\n\r\n')
      await new Promise((resolve) => setImmediate(resolve))
    }
    connection.finish()
    await connection.closed()
    assert.equal(service.events.filter(({ kind }) => kind === 'requestRefused').length, 1)
  })

  test('a chunked body that breaks while its caller is looked up gets one answer and is one event', async () => {
    await using service = await startService({})
    const own = `Authorization: Bearer ${service.client.token}`
    for (const [method, target] of [
      ['GET', '/plants/1'],
      ['GET', '/plants'],
      ['DELETE', '/plants/1'],
    ] as const) {
      await using connection = await service.client.open()
      connection.send(`${head(`${method} ${target} HTTP/1.1`, host, own, 'Transfer-Encoding: chunked')}xyz\r\n`)
      const response = await connection.answerTo(method, target)
      checkProblem(response, 400, 'malformedRequest')
      connection.finish()
      await connection.closed()
    }
    const told = service.events.map((event) => ('status' in event ? (event.error ?? event.status) : event.kind))
    assert.deepEqual(told, ['serverListening', 200, 'malformedRequest', 'malformedRequest', 'malformedRequest'])
  })

  test('a client that goes away before its answer is an event, under a request id', async () => {
    await using service = await startService({ storeBusyMsMax: 60_000 })
    const { client } = service
    // Held by somebody else, the store has the create wait.
    const other = new DatabaseSync(service.path)
    other.exec('BEGIN IMMEDIATE')
    const connection = await client.open()
    const ask = encodeRequest(client.token, { method: 'GET', target: '/livez' })
    const create = encodeRequest(client.token, { body: plantJson(1n, 'n'), target: '/plants?secret=x' })
    // Sent at once: when the first is answered the second is being done.
    connection.send(Buffer.concat([ask, create]))
    assert.equal((await connection.answerTo('GET', '/livez')).status, 200)
    connection.reset()
    const aborted = () => service.events.filter(({ kind }) => kind === 'requestAborted')
    await until('the client is noticed to be gone', () => aborted().length > 0)
    other.exec('ROLLBACK')
    other.close()
    const [event] = aborted()
    assert.ok(event?.kind === 'requestAborted')
    assert.match(event.requestId, /^\w+-\w+$/)
    assert.deepEqual([event.method, event.path, event.reason], ['POST', '/plants', 'clientLeft'])
    // What it asked for is done all the same.
    const read = () => client.request({ method: 'GET', target: '/plants/1' })
    await until('the plant is there', async () => (await read()).status === 200)
    assert.equal(aborted().length, 1)
    assert.ok(
      !service.events.some((other) => other !== event && 'requestId' in other && other.requestId === event.requestId),
    )
  })

  for (const [leaves, leave] of [
    ['closes', (connection: Connection) => connection[Symbol.asyncDispose]()],
    ['resets', (connection: Connection) => connection.reset()],
  ] as const) {
    test(`a client that ${leaves} its connection in the middle of a body is one event`, async () => {
      await using service = await startService({})
      const own = `Authorization: Bearer ${service.client.token}`
      const seen = service.events.length
      for (const framing of ['Content-Length: 50', 'Transfer-Encoding: chunked']) {
        await using connection = await service.client.open()
        const looked = service.events.length
        connection.send(`${head('POST /plants HTTP/1.1', host, own, json, framing)}5\r\n{"i`)
        // Nothing tells that the server has read it, but the answer to somebody who came later.
        await service.client.request({ method: 'GET', target: '/livez' })
        await leave(connection)
        await until('it is told of', () => service.events.length === looked + 2)
      }
      const told = service.events.slice(seen).map((event) => ('reason' in event ? event.reason : event.kind))
      assert.deepEqual(told, ['requestFinished', 'clientLeft', 'requestFinished', 'clientLeft'])
    })

    test(`a client that is refused in the middle of a body and then ${leaves} its connection is one event`, async () => {
      await using service = await startService({})
      const own = `Authorization: Bearer ${service.client.token}`
      const seen = service.events.length
      for (const [request, status] of [
        [head('POST /plants HTTP/1.1', host, json, 'Transfer-Encoding: chunked'), 401],
        [`${head('POST /plants HTTP/1.1', host, own, json, 'Transfer-Encoding: chunked')}xyz\r\n`, 400],
      ] as const) {
        await using connection = await service.client.open()
        connection.send(request)
        const response = await connection.answerTo('POST', '/plants')
        await leave(connection)
        assert.equal(response.status, status)
      }
      await until('they are closed', () => service.events.length >= seen + 2)
      // A second event would come before this one.
      await service.client.request({ method: 'GET', target: '/livez' })
      const told = service.events.slice(seen).map((event) => 'status' in event && event.status)
      assert.deepEqual(told, [401, 400, 200])
    })
  }

  test('a client that sends a megabyte before it reads still gets to read the 413', async () => {
    await using service = await startService({})
    await using connection = await service.client.open()
    const own = `Authorization: Bearer ${service.client.token}`
    connection.send(head('POST /plants HTTP/1.1', host, own, json, 'Content-Length: 1000000'))
    for (let sent = 0; sent < 1_000_000; sent += 50_000) {
      connection.send(Buffer.alloc(50_000, 'x'))
      await new Promise((resolve) => setImmediate(resolve))
    }
    checkProblem(await connection.answerTo('POST', '/plants'), 413, 'bodyTooLarge')
    connection.finish()
    await connection.closed()
  })
})

function checkProblem(response: Awaited<ReturnType<Client['request']>>, status: number, error: ErrorCode): void {
  assert.equal(response.status, status, response.body)
  assert.equal(response.headers.get('content-type'), 'application/json')
  assert.equal(response.headers.get('content-length'), String(Buffer.byteLength(response.body)))
  assert.ok(response.headers.has('date'))
  assert.match(response.headers.get('x-request-id') ?? '', /^\w+-\w+$/)
  const { error: number, message } = JSON.parse(response.body)
  assert.equal(number, errorNumbers[error], message)
}
