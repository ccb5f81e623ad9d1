// Changes through the client: listed up to now, and followed through restarts and cuts.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Change, PlantStoreClient } from '../../client/client.ts'
import { startAnswering } from '../support/answering.ts'
import { onService, type Service } from '../support/service.ts'
import { addToken, importBeside, revokeToken } from '../support/store.ts'
import { until } from '../support/time.ts'

const clientOf = ({ port, token: own }: Service, token = own): PlantStoreClient =>
  new PlantStoreClient({ url: `http://127.0.0.1:${port}`, token })

const namesOf = (changes: readonly Change[]): readonly string[] =>
  changes.map(({ kind, plant }) => `${kind} ${plant.id}`)

describe('changes through the client', () => {
  onService('are listed up to now, page by page, and go on from a position', async (service) => {
    const client = clientOf(service)
    assert.deepEqual(await Array.fromAsync(client.listChanges()), [])
    const plants = Array.from({ length: 250 }, (_, at) => ({ id: BigInt(at + 1), name: 'n' }))
    await importBeside(service.path, plants)
    await client.deletePlant(1)
    const changes = await Array.fromAsync(client.listChanges())
    assert.deepEqual(changes.length, 251)
    assert.equal(changes[0]?.plant.id, 1n)
    const pages = await Array.fromAsync(client.listChanges().pages())
    const listed = pages.flatMap((page) => page.changes)
    assert.deepEqual(listed, changes)
    const later = await Array.fromAsync(client.listChanges({ after: changes[248]?.position }))
    assert.deepEqual(namesOf(later), ['created 250', 'deleted 1'])
    assert.deepEqual(namesOf(await Array.fromAsync(client.listChanges({ kind: 'deleted' }))), ['deleted 1'])
    assert.deepEqual(await Array.fromAsync(client.listChanges({ after: 'now' })), [])
    const error = { name: 'PlantStoreError', error: 41001 }
    await assert.rejects(Array.fromAsync(client.listChanges({ after: '7-1' })), error)
  })

  onService('are followed with every text, such as one that has line breaks of Unicode', async (service) => {
    const client = clientOf(service)
    const name = '\u2028data: {}\u2029id: 7\u0085\r\n\r\ndata: x'
    await client.createPlant({ id: 1, name })
    await client.createPlant({ id: 2, name })
    const seen: string[] = []
    for await (const { plant } of client.followChanges()) if (seen.push(plant.name) === 2) break
    assert.deepEqual(seen, [name, name])
  })

  onService('are not followed with a token that is revoked, nor from a position that is gone', async (service) => {
    const { id, secret } = await addToken(service.path, 'short')
    const client = clientOf(service, secret)
    const refused = assert.rejects(client.followChanges().next(), { name: 'PlantStoreError', status: 401 })
    await revokeToken(service.path, id)
    await refused
    const gone = clientOf(service).followChanges({ after: '7-1' })
    await assert.rejects(gone.next(), { name: 'PlantStoreError', status: 410 })
  })
})

describe('the stream of changes', () => {
  /** A server that answers each request as a stream, which the listener writes. */
  async function streaming(listener: RequestListener) {
    const { url, ...server } = await startAnswering((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      listener(request, response)
    })
    return { ...server, client: new PlantStoreClient({ url }) }
  }

  const eventOf = (id: number, name = 'n'): string =>
    `id: ${id}-a\ndata: {"position":"${id}-a","kind":"created","plant":{"id":${id},"name":"${name}"}}\n\n`

  test('may cut a character between two chunks', async () => {
    const bytes = Buffer.from(eventOf(1, 'Ficus 🌿'))
    await using store = await streaming(async (_, response) => {
      for (const byte of bytes) {
        response.write(Buffer.of(byte))
        // What is written in one turn is one chunk.
        await nextTurn()
      }
    })
    await using changes = store.client.followChanges()
    assert.equal((await changes.next()).value?.plant.name, 'Ficus 🌿')
  })

  test('is none if the answer has another type', async () => {
    const html: RequestListener = (_, response) => response.setHeader('content-type', 'text/html').end(eventOf(1))
    await using store = await startAnswering(html)
    const message = /did not answer as a plant store does; is it the right server\?$/
    await assert.rejects(new PlantStoreClient(store).followChanges().next(), { name: 'PlantStoreError', message })
  })

  test('is none if a line does not end', async () => {
    let sent = 0
    await using store = await streaming(async (_, response) => {
      for (; !response.destroyed && sent < 32; sent += 1) {
        // No further ahead of the client than the system lets it be.
        if (!response.write('x'.repeat(1_000_000)))
          await Promise.race([once(response, 'drain'), once(response, 'close')])
      }
      response.end()
    })
    const next = store.client.followChanges({}, { signal: AbortSignal.timeout(60_000) }).next()
    await assert.rejects(next, /did not answer as a plant store does/)
    assert.ok(sent < 32, `${sent}`)
  })

  test('is broken after 40 s without a byte, and not before', async (context) => {
    let send = (_: string): void => {}
    await using store = await streaming((_, response) => {
      send = (text) => void response.write(text)
      send(eventOf(1))
    })
    context.mock.timers.enable({ apis: ['setTimeout'] })
    const stopping = new AbortController()
    const options = { signal: stopping.signal, onFailure: (failure: Error) => stopping.abort(failure) }
    const changes = store.client.followChanges({}, options)
    for (let id = 1n; id <= 3n; id += 1n) {
      assert.equal((await changes.next()).value?.plant.id, id)
      context.mock.timers.tick(39_999)
      send(eventOf(Number(id) + 1))
    }
    await changes.next()
    const broken = assert.rejects(changes.next(), /cannot be reached: .*abort/)
    context.mock.timers.tick(39_999)
    assert.ok(!stopping.signal.aborted)
    context.mock.timers.tick(1)
    context.mock.timers.reset()
    await until('it is broken', () => stopping.signal.aborted, 5_000)
    await broken
  })

  test('is opened again at once each time that it has brought something, after that', async () => {
    let cut = (): void => {}
    const targets: (string | undefined)[] = []
    await using store = await streaming(({ url }, response) => {
      cut = () => void response.destroy()
      response.write(eventOf(targets.push(url)))
    })
    const pausesMs: number[] = []
    const onFailure = (_: Error, retryMs: number): void => void pausesMs.push(retryMs)
    const changes = store.client.followChanges({}, { onFailure })
    for (let change = 1; change <= 12; change += 1) {
      await changes.next()
      cut()
    }
    await changes.return()
    assert.deepEqual(targets, ['/changes?', ...pausesMs.map((_, at) => `/changes?after=${at + 1}-a`)])
    assert.equal(pausesMs.length, 11)
    assert.ok(Math.max(...pausesMs) <= 50, pausesMs.join())
  })
})
