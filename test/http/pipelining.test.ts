// Requests that are sent before earlier ones are answered: each gets its answer, in order, and none of them is in
// anybody's way.

import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { type Connection, encodeRequest, plantJson } from '../support/client.ts'
import { inRing } from '../support/ring.ts'
import { type Service, startService } from '../support/service.ts'
import { until } from '../support/time.ts'

interface Sent {
  readonly method: string
  readonly target: string
  readonly bytes: Buffer
  readonly status: number
  /** What its answer's body has in it. */
  readonly says: string
}

describe('pipelined requests', () => {
  let service: Service
  let lastId = 0n

  before(async () => {
    service = await startService({})
  })

  after(() => service[Symbol.asyncDispose]())

  const livez = (headers: Record<string, string> = {}): Sent => ({
    method: 'GET',
    target: '/livez',
    bytes: encodeRequest('', { method: 'GET', target: '/livez', headers }),
    status: 200,
    says: 'ok',
  })
  const missing = (): Sent => {
    lastId += 1n
    const target = `/missing-${lastId}`
    const bytes = encodeRequest('', { method: 'GET', target })
    return { method: 'GET', target, bytes, status: 404, says: target }
  }
  /** @param space what JSON may have between its tokens: an empty line is nothing but white space there. */
  const create = (space = '', headers: Record<string, string> = {}): Sent => {
    lastId += 1n
    const body = `${space}${plantJson(lastId, `plant ${lastId}`)}${space}`
    const bytes = encodeRequest(service.client.token, { body, headers })
    return { method: 'POST', target: '/plants', bytes, status: 200, says: `"plant ${lastId}"` }
  }
  const createChunked = (space = '', headers: Record<string, string> = {}): Sent => {
    lastId += 1n
    const pieces = [space, plantJson(lastId, `plant ${lastId}`), space].filter((piece) => piece !== '')
    const chunks = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`)
    const head = encodeRequest(service.client.token, {
      headers: { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked', ...headers },
    })
    const bytes = Buffer.concat([head, Buffer.from(`${chunks.join('')}0\r\n\r\n`)])
    return { method: 'POST', target: '/plants', bytes, status: 200, says: `"plant ${lastId}"` }
  }
  const upgrade = { Connection: 'Upgrade', Upgrade: 'h2c' }
  const kinds: readonly (() => Sent)[] = [
    livez,
    missing,
    create,
    () => create('\r\n\r\n'),
    createChunked,
    () => createChunked('\r\n\r\n\r\n'),
    () => livez(upgrade),
    () => create('', upgrade),
    () => create('\r\n\r\n', upgrade),
  ]

  async function expectAnswers(connection: Connection, requests: readonly Sent[]): Promise<void> {
    for (const { method, target, status, says } of requests) {
      const answer = await connection.answerTo(method, target)
      assert.equal(answer.status, status, answer.body)
      assert.ok(answer.body.includes(says), `${answer.body} for ${says}`)
    }
  }

  test('are answered in order, however they are cut into packets', async () => {
    const requests = fc.array(fc.nat({ max: kinds.length - 1 }), { minLength: 1, maxLength: 12 })
    const cuts = fc.array(fc.nat(), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(requests, cuts, fc.boolean(), async (kindsSent, cutsAt, endsAtOnce) => {
        const sent = kindsSent.map((kind) => (kinds[kind] as () => Sent)())
        const bytes = Buffer.concat(sent.map((request) => request.bytes))
        await using connection = await service.client.open()
        const ends = [...cutsAt.map((cut) => cut % bytes.length), bytes.length].sort((a, b) => a - b)
        let from = 0
        for (const end of ends) {
          connection.send(bytes.subarray(from, end))
          from = end
          await new Promise((resolve) => setImmediate(resolve))
        }
        if (endsAtOnce) connection.finish()
        await expectAnswers(connection, sent)
        if (!endsAtOnce) connection.finish()
        await connection.closed()
      }),
      { numRuns: inRing(50, 200) },
    )
  })

  test('by the thousand are all answered', async () => {
    await using connection = await service.client.open()
    const sent = Array.from({ length: 3_000 }, (_, index) => (index % 3 === 0 ? create() : missing()))
    connection.send(Buffer.concat(sent.map(({ bytes }) => bytes)))
    await expectAnswers(connection, sent)
  })

  test('of one connection are worked on one at a time', async () => {
    await using busy = await startService({ storeBusyMsMax: 60_000 })
    const livez = () => busy.client.request({ method: 'GET', target: '/livez' })
    let taken = 0
    const note = (message: unknown): void => {
      const { request } = message as { readonly request: IncomingMessage }
      if (request.method === 'POST') taken += 1
    }
    subscribe('http.server.request.start', note)
    // Held by another process, the store has every create wait.
    const other = new DatabaseSync(busy.path)
    other.exec('BEGIN IMMEDIATE')
    await using connection = await busy.client.open()
    const ids = Array.from({ length: 40 }, (_, id) => BigInt(id))
    connection.send(
      Buffer.concat(ids.map((id) => encodeRequest(busy.client.token, { body: plantJson(id, `plant ${id}`) }))),
    )
    await until('one is taken', () => taken === 1)
    for (let turn = 0; turn < 3; turn += 1) await livez()
    assert.equal(taken, 1)
    other.exec('ROLLBACK')
    other.close()
    for (const _ of ids) assert.equal((await connection.answerTo('POST', '/plants')).status, 200)
    assert.equal(taken, ids.length)
    unsubscribe('http.server.request.start', note)
  })

  test('of one connection let others in between', async () => {
    await using own = await startService({})
    const finished = () => own.events.filter((event) => event.kind === 'requestFinished').length
    await using flood = await own.client.open()
    await using honest = await own.client.open()
    const many = 2_000
    const before = finished()
    flood.send(Buffer.concat(Array.from({ length: many }, () => livez().bytes)))
    await until('the flood has begun', () => finished() > before)
    assert.equal((await honest.request({ method: 'GET', target: '/livez' })).status, 200)
    assert.ok(finished() - before < many, 'the whole flood was served first')
  })
})
