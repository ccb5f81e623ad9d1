// Requests that break in the middle of the body, and clients that leave before the response: there is never a second
// response, and each is reported once.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { type Connection, encodeRequest, plantJson } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/time.ts'

describe('a request that breaks', () => {
  for (const [leaves, leave] of [
    ['ends', (connection: Connection) => connection.finish()],
    ['closes', (connection: Connection) => connection[Symbol.asyncDispose]()],
    ['resets', (connection: Connection) => connection.reset()],
  ] as const) {
    test(`in a body that nobody wanted, or before its caller is known, is one event if its client ${leaves}`, async () => {
      await using service = await startService({})
      const seen = service.events.length
      const { token: own } = service.client
      for (const [method, target, token, status] of [
        ['POST', '/plants', '', 401],
        ['POST', '/plants', own, 400],
        ['GET', '/plants/1', own, 400],
        ['DELETE', '/plants/1', own, 400],
      ] as const) {
        await using connection = await service.client.open()
        const headers = { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' }
        connection.send(`${encodeRequest(token, { method, target, headers })}xyz\r\n`)
        assert.equal((await connection.answerTo(method, target)).status, status)
        await leave(connection)
        if (leaves === 'ends') await connection.closed()
      }
      await until('they are closed', () => service.events.length >= seen + 4)
      // A second event would come before this one.
      await service.client.request({ method: 'GET', target: '/livez' })
      const told = service.events.slice(seen).map((event) => 'status' in event && event.status)
      assert.deepEqual(told, [401, 400, 400, 400, 200])
    })
  }

  test('because its client goes away before its answer is an event, and is done all the same', async () => {
    await using service = await startService({ storeBusyMsMax: 60_000 })
    const { client } = service
    // Held by somebody else, the store has the create wait.
    const other = new DatabaseSync(service.path)
    other.exec('BEGIN IMMEDIATE')
    const connection = await client.open()
    const create = encodeRequest(client.token, { body: plantJson(1n, 'n'), target: '/plants?secret=x' })
    // Sent at once: when the first is answered the second is being done.
    connection.send(Buffer.concat([encodeRequest('', { method: 'GET', target: '/livez' }), create]))
    await connection.answerTo('GET', '/livez')
    connection.reset()
    const aborted = () => service.events.filter((event) => event.kind === 'requestAborted')
    await until('the client is noticed to be gone', () => aborted().length > 0)
    other.exec('ROLLBACK')
    other.close()
    const read = { method: 'GET', target: '/plants/1' }
    await until('the plant is there', async () => (await client.request(read)).status === 200)
    const [event, ...more] = aborted()
    assert.match(event?.requestId ?? '', /^\w+-\w+$/)
    assert.deepEqual([event?.method, event?.path, event?.reason, more], ['POST', '/plants', 'clientLeft', []])
    assert.ok(!service.events.some((other) => 'status' in other && other.requestId === event?.requestId))
  })
})
