// The client on a failing network: a change is made exactly once, or the call reports that it may not have been.

import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { after, describe, test } from 'node:test'
import { type ClientOptions, PlantStoreClient, PlantStoreError } from '../../client/client.ts'
import { startAnswering } from '../support/answering.ts'
import { inRing, testOn } from '../support/ring.ts'
import { startSuite } from '../support/service.ts'
import { assertPrompt, until } from '../support/time.ts'
import { FaultyProxy, type Piece } from './faulty-proxy.ts'

describe('the client behind a proxy that cuts connections', async () => {
  const service = await startSuite()
  const direct = new PlantStoreClient(service)
  const proxy = await FaultyProxy.start(service.port)
  const client = new PlantStoreClient({ url: proxy.url, token: service.token, triesMax: 30 })
  const ways = 12
  /** Bytes from one cut to the next. */
  const step = inRing(61, 1)

  after(() => proxy[Symbol.asyncDispose]())

  /** Calls once for each byte at which its request or answer can be cut, and gives how many times. */
  async function cutEverywhere(
    part: Piece['of'],
    call: (client: PlantStoreClient, index: number, way: number) => Promise<unknown>,
  ): Promise<number> {
    let length = 0
    let cuts = 0
    proxy.decide = ({ of, bytes }) => {
      if (of === part) length = bytes.length
      return undefined
    }
    await call(client, 0, 0)
    const go = async (way: number): Promise<void> => {
      await using own = await FaultyProxy.start(service.port)
      const ownClient = new PlantStoreClient({ url: own.url, token: service.token, triesMax: 30 })
      for (let index = 1 + way * step; index <= length; index += ways * step) {
        own.decide = ({ of }) => {
          if (of !== part) return undefined
          own.decide = () => undefined
          return index - 1
        }
        cuts += 1
        await call(ownClient, index, way)
      }
    }
    await Promise.all(Array.from({ length: ways }, (_, way) => go(way)))
    assert.ok(length > 100, `${length}`)
    return cuts
  }

  for (const cutPart of ['request', 'answer'] as const) {
    const first = cutPart === 'request' ? 10_000n : 20_000n

    test(`creates, replaces and deletes a plant once, cut at any byte of the ${cutPart}`, async () => {
      const idOf = (index: number): bigint => first + BigInt(index)
      const cuts = await cutEverywhere(cutPart, (client, index) =>
        client.createPlant({ id: idOf(index), name: `n${index}` }),
      )
      const created = await Array.fromAsync(direct.listPlants({ after: first - 1n, limit: 1000 }))
      assert.equal(created.filter(({ id }) => id < first + 5_000n).length, cuts + 1)

      const replaced = Array.from({ length: ways }, (_, way) => first + 5_000n + BigInt(way))
      for (const id of replaced) await direct.createPlant({ id, name: 'n' })
      await cutEverywhere(cutPart, async (client, index, way) => {
        const id = replaced[way] ?? 0n
        const read = await direct.getPlant(id)
        const { etag } = await client.replacePlant(id, { name: `replaced ${index}` }, { ifMatch: read })
        assert.deepEqual(await direct.getPlant(id), { id, name: `replaced ${index}`, etag })
      })
      await cutEverywhere(cutPart, async (client, index) => {
        const id = idOf(index)
        await direct.createPlant({ id, name: 'n' }).catch(() => {})
        await client.deletePlant(id)
        await assert.rejects(direct.getPlant(id), { status: 404 })
      })
    })
  }
})

describe('the patience of the client', { concurrency: true }, () => {
  const plant = { id: 1n, name: 'n' }
  const plantBody = '{"id":1,"name":"n"}'

  /** A server that answers the first request in the first way, and so on; later ones as a store does. */
  async function answering(...answers: readonly RequestListener[]) {
    const requestsMs: number[] = []
    const keys: (string | undefined)[] = []
    const server = await startAnswering((request, response) => {
      requestsMs.push(performance.now())
      keys.push(request.headers['idempotency-key'] as string | undefined)
      const answer = answers[requestsMs.length - 1]
      if (answer !== undefined) answer(request, response)
      else response.setHeader('content-type', 'application/json').setHeader('etag', '"1"').end(plantBody)
    })
    return {
      /** When each request came. */
      requestsMs,
      keys,
      client: (options?: Partial<ClientOptions>) => new PlantStoreClient({ url: server.url, token: 't', ...options }),
      [Symbol.asyncDispose]: server[Symbol.asyncDispose],
    }
  }

  const busy = '{"error":50301,"message":"busy"}'
  const refusing = (status: number, headers: Record<string, string> = {}, body = busy): RequestListener => {
    return (_, response) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
  }
  const silent: RequestListener = () => {}
  const lost: RequestListener = (request) => request.socket.destroy()
  const changed = refusing(412, {}, '{"error":41201,"message":"changed"}')
  const html = refusing(200, { 'content-type': 'text/html' }, '<h1>Log in</h1>')
  const noPlant = refusing(404, {}, '{"error":40402,"message":"no plant"}')
  const isDiscreet = (error: unknown): boolean => error instanceof TypeError && !/s.cret/.test(error.message)
  const onAnswering = testOn(() => answering())

  for (const status of [429, 502, 503, 504]) {
    test(`tries again after ${status}, with the key of the first try`, async () => {
      await using store = await answering(refusing(status), refusing(status, { 'content-type': 'text/html' }, '<h1>'))
      assert.deepEqual(await store.client().createPlant(plant), { id: 1n, name: 'n' })
      assert.equal(store.requestsMs.length, 3)
      assert.equal(new Set(store.keys).size, 1)
      assert.match(store.keys[0] ?? '', /^[0-9a-z]+(?:-[0-9a-z]+){3}$/)
      await store.client().createPlant(plant)
      assert.notEqual(store.keys[3], store.keys[0], 'another create has another key')
    })
  }

  for (const status of [400, 401, 404, 409, 500]) {
    test(`does not try again after ${status}`, async () => {
      await using store = await answering(refusing(status))
      await assert.rejects(store.client().createPlant(plant), { status, error: 50301, message: 'busy' })
      assert.equal(store.requestsMs.length, 1)
    })
  }

  test('waits as long as Retry-After says, in seconds or as a date', async () => {
    const inTwoSeconds = (): string => new Date(Math.ceil(Date.now() / 1000) * 1000 + 1_000).toUTCString()
    await using store = await answering(refusing(503, { 'retry-after': '1' }), (request, response) =>
      refusing(429, { 'retry-after': inTwoSeconds() })(request, response),
    )
    await store.client().getPlant(1n)
    const [first = 0, second = 0, third = 0] = store.requestsMs
    // Timers are a little early now and then.
    assert.ok(second - first >= 990, `${second - first}`)
    assert.ok(third - second >= 990, `${third - second}`)
  })

  test('does not wait for a time that is after its deadline', async () => {
    await using store = await answering(refusing(503, { 'retry-after': '60', 'x-request-id': 'r-1' }))
    const client = store.client()
    const refused = await client.getPlant(1n).catch((error) => error)
    assert.ok(refused instanceof PlantStoreError)
    const expected = { name: '', status: 503, error: 50301, requestId: 'r-1', mayBeDone: false, retryAfter: 60 }
    assert.deepEqual({ ...refused, name: '' }, expected)
    assert.equal(store.requestsMs.length, 1)
  })

  test('pauses longer each time, and at random', async () => {
    const pauses = async (): Promise<number[]> => {
      await using store = await answering(...Array.from({ length: 7 }, () => refusing(503)))
      await store.client().getPlant(1n)
      return store.requestsMs.slice(1).map((ms, index) => ms - (store.requestsMs[index] ?? 0))
    }
    const [one, other] = await Promise.all([pauses(), pauses()])
    assert.notDeepEqual(one.map(Math.round), other.map(Math.round))
    for (const [index, ms] of [...one.entries(), ...other.entries()]) assert.ok(ms < 50 * 2 ** index + 5_000, `${one}`)
  })

  test('gives up after so many tries', async () => {
    await using store = await answering(...Array.from({ length: 5 }, () => refusing(503)))
    await assert.rejects(store.client({ triesMax: 3 }).getPlant(1n), { status: 503 })
    assert.equal(store.requestsMs.length, 3)
  })

  test('gives a try up that is not answered, and tries again', async () => {
    await using store = await answering(silent, (_, response) => response.writeHead(200).write('{"id":'))
    assert.equal((await store.client({ tryTimeoutMs: 1_500 }).getPlant(1n)).name, 'n')
    assert.equal(store.requestsMs.length, 3)
  })

  test('has one deadline for all tries', async () => {
    await using store = await answering(...Array.from({ length: 50 }, () => silent))
    const startedMs = performance.now()
    const options = { tryTimeoutMs: 500, triesMax: 50 }
    const message = /^http:\/\/127\.0\.0\.1:\d+ did not answer within [\d.]+ s$/
    const call = store.client({ ...options, timeoutMs: 3_000 }).getPlant(1n)
    await assert.rejects(call, { status: undefined, message })
    assert.ok(performance.now() - startedMs >= 1_000)
    assert.ok(store.requestsMs.length > 1)
    await assert.rejects(store.client(options).getPlant(1n, { timeoutMs: 100 }), /did not answer within 0\.1 s/)
  })

  test('ends with the reason of its signal: before a try, in it and between two', async () => {
    await using store = await answering(silent, refusing(503, { 'retry-after': '20' }))
    const reason = new Error('not wanted any more')
    const client = store.client()
    await assert.rejects(client.getPlant(1n, { signal: AbortSignal.abort(reason) }), reason)
    assert.equal(store.requestsMs.length, 0)
    for (const tries of [1, 2]) {
      const stopping = new AbortController()
      const getting = client.getPlant(1n, { signal: stopping.signal })
      await until('the request has come', () => store.requestsMs.length >= tries)
      if (tries === 2) await new Promise((resolve) => setTimeout(resolve, 50))
      stopping.abort(reason)
      await assert.rejects(getting, reason)
    }
    assert.equal(store.requestsMs.length, 2)
  })

  test('ends at once when its signal is aborted as soon as a failure is told', async () => {
    await using store = await answering(refusing(503, { 'retry-after': '3000000' }))
    const stopping = new AbortController()
    // A timer that is longer ends at once.
    const onFailure = (failure: Error, retryMs: number) => stopping.abort(retryMs < 2 ** 31 ? failure : retryMs)
    const options = { signal: stopping.signal, onFailure }
    const startedMs = performance.now()
    await assert.rejects(store.client().followChanges({}, options).next(), { status: 503 })
    assertPrompt(startedMs, 500)
  })

  test('says what is wrong with an answer that is none of a plant store', async () => {
    const other = (body: string) => refusing(200, {}, body)
    const rounded = '{"id":9007199254740992.0,"name":"n"}'
    await using store = await answering(html, ...['[]', '{"id":"1","name":"n"}', rounded, '{"id":1'].map(other))
    const error = { name: 'PlantStoreError', message: /is it the right server\?$/ }
    for (let answer = 0; answer < 4; answer += 1) await assert.rejects(store.client().getPlant(1n), error)
  })

  test('stops reading an answer that is longer than any of a plant store', async () => {
    for (const status of inRing([200], [200, 400])) {
      let sent = 0
      const endless: RequestListener = (_, response) => {
        response.writeHead(status, { 'content-type': 'application/json' })
        const piece = Buffer.alloc(8_000_000, ' ')
        const send = (): void => {
          sent += piece.length
          if (sent > 800_000_000) response.end()
          else response.write(piece, (error) => error ?? setImmediate(send))
        }
        send()
      }
      await using store = await answering(endless)
      await assert.rejects(store.client({ tryTimeoutMs: 30_000 }).createPlant(plant), {
        status,
        mayBeDone: status === 200,
        message:
          /^http:\/\/127\.0\.0\.1:\d+ sent more than 128,000,000 characters; is it the right server\? If so, list fewer/,
      })
      assert.equal(store.requestsMs.length, 1)
      assert.ok(sent < 300_000_000, `${sent}`)
    }
  })

  test('takes an answer without its end for none', async () => {
    const empty: RequestListener = (_, response) => response.writeHead(200).end()
    await using store = await answering(empty, refusing(200, {}, '{"id":1'), refusing(200, {}, ''))
    assert.equal((await store.client().getPlant(1n)).name, 'n')
    await using deaf = await answering(empty, empty)
    await assert.rejects(deaf.client({ triesMax: 2 }).getPlant(1n), { status: undefined, message: /was cut short$/ })
  })

  test('takes nothing but 204, and the own 404 of the store, for a delete that is done', async () => {
    const foreign = refusing(404, { 'content-type': 'text/html' }, '?')
    await using portal = await answering(html)
    await assert.rejects(portal.client().deletePlant(1n), { status: 200, message: /is it the right server/ })
    await using ingress = await answering(refusing(503), foreign)
    await assert.rejects(ingress.client().deletePlant(1n), { status: 404 })
    await using gone = await answering(refusing(502), noPlant)
    // The server's own refusal of the first try says that it was not done.
    await assert.rejects(gone.client().deletePlant(1n), { status: 404, error: 40402 })
    // A refusal in between says nothing about the first try.
    await using losing = await answering(lost, refusing(503), noPlant)
    await losing.client().deletePlant(1n)
    const inDoubt = refusing(503, {}, '{"error":50302,"message":"it is not known whether it was done"}')
    await using unknown = await answering(inDoubt, noPlant)
    await unknown.client().deletePlant(1n)
  })

  test('follows no redirect, which could make a GET of a create', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      await using store = await answering(refusing(status, { location: '/elsewhere' }, ''))
      await assert.rejects(store.client().createPlant(plant), { status, message: /redirects; give the URL/ })
      assert.equal(store.requestsMs.length, 1)
    }
  })

  onAnswering('is not asked of it for what no server could take, and shows no secret then', async (store) => {
    for (const options of [{ token: 'secret\nx' }, { token: 'sécret' }, { timeoutMs: Number.NaN }, { tryTimeoutMs: 0 }])
      assert.throws(() => store.client(options), isDiscreet)
    const client = store.client()
    await assert.rejects(client.createPlant(plant, { idempotencyKey: 'a\nb' }), TypeError)
    await assert.rejects(client.deletePlant(1n, { ifMatch: '"\u{1f335}"' }), TypeError)
    await assert.rejects(client.getPlant(1n, { timeoutMs: -1 }), TypeError)
    for (const id of ['', '.', '..']) await assert.rejects(client.deletePlant(id), TypeError)
    await assert.rejects(Array.fromAsync(client.listPlants({ tag: '\ud83c' })), /tag must be well-formed/)
    assert.equal(store.requestsMs.length, 0)
    assert.equal((await store.client({ timeoutMs: Infinity, tryTimeoutMs: Infinity }).getPlant(1n)).name, 'n')
  })

  test('knows the next page by its relation alone', async () => {
    const linked =
      (link: string): RequestListener =>
      (_, response) =>
        response.writeHead(200, { 'content-type': 'application/json', link }).end('[{"id":1,"name":"n"}]')
    const next = async (link: string): Promise<string | undefined> => {
      await using store = await answering(linked(link))
      const { value } = await store.client().listPlants().pages().next()
      return value?.next
    }
    for (const link of [
      '</plants?after=5>; rel="next"',
      '<https://x.example/a/plants?limit=1&after=5>;rel=next',
      '</a?after=1>; rel="prev", </b?after=5>; title="a, <b>"; rel="last next"',
    ])
      assert.equal(await next(link), '5', link)
    for (const link of ['</a?after=5>; rel="next-archive"', '</a?after=5>; title="rel=next"', ''])
      assert.equal(await next(link), undefined, link)
  })

  test('is given the plant that was asked for, and the words of the server for one without a name', async () => {
    await using store = await answering()
    await assert.rejects(store.client().getPlant(2n), /is it the right server/)
    const bodies: string[] = []
    await using reading = await answering((request, response) => {
      request.on('data', (part) => bodies.push(String(part))).on('end', () => refusing(400)(request, response))
    })
    const nameless = { id: 1n } as unknown as typeof plant
    await assert.rejects(reading.client().createPlant(nameless), { status: 400 })
    assert.deepEqual(bodies, ['{"id":1}'])
  })

  test('keeps its deadline and its signal where a replace has to look what became of it', async () => {
    await using slow = await answering(lost, changed, silent, silent, silent)
    const startedMs = performance.now()
    const options = { ifMatch: '"a"', timeoutMs: 3_000 }
    await assert.rejects(slow.client().replacePlant(1n, plant, options), /did not answer within/)
    assert.ok(performance.now() - startedMs < 5_500)
    await using stopped = await answering(lost, changed, silent)
    const stopping = new AbortController()
    const replacing = stopped.client().replacePlant(1n, plant, { ifMatch: '"a"', signal: stopping.signal })
    await until('the plant is read', () => stopped.requestsMs.length >= 3)
    stopping.abort(new Error('not wanted'))
    await assert.rejects(replacing, /not wanted/)
  })

  test('says that the plant has changed where a token that may only write cannot look what became of it', async () => {
    await using store = await answering(lost, changed, refusing(403))
    await assert.rejects(store.client().replacePlant(1n, plant, { ifMatch: '"a"' }), { status: 412 })
    assert.equal(store.requestsMs.length, 3)
  })

  test('keeps its deadline and its signal where a fetch of the caller heeds no signal', async () => {
    const client = new PlantStoreClient({ url: 'http://127.0.0.1:1', fetch: () => new Promise(() => {}) })
    await assert.rejects(client.getPlant(1, { timeoutMs: 50 }), /did not answer within/)
    await assert.rejects(client.getPlant(1, { signal: AbortSignal.timeout(50) }), { name: 'TimeoutError' })
  })

  test('reports that an earlier try may have succeeded, for any answer to the last one', async () => {
    const refusals = [
      [401, '{"error":40102,"message":"the token is unknown"}'],
      [429, '{"error":42901,"message":"nothing was done"}'],
      [503, '{"error":50301,"message":"nothing was done, try again"}'],
    ] as const
    for (const [status, body] of refusals) {
      let tries = 0
      const listener: RequestListener = (request, response) => {
        tries += 1
        if (tries === 1) request.socket.destroy()
        else response.writeHead(status, { 'content-type': 'application/json' }).end(body)
      }
      await using store = await answering(...Array.from({ length: 20 }, () => listener))
      const client = store.client({ triesMax: 2 })
      for (const change of [
        () => client.createPlant({ id: 1, name: 'n' }),
        () => client.replacePlant(1, { name: 'n' }),
        () => client.deletePlant(1),
      ]) {
        tries = 0
        await assert.rejects(change(), (error) => {
          assert.ok(error instanceof PlantStoreError)
          assert.deepEqual([error.status, error.mayBeDone], [status, true])
          assert.match(error.message, /^an earlier try got no answer and may have succeeded; the last one was refused/)
          assert.doesNotMatch(error.message, /nothing was done/)
          assert.equal((error.cause as PlantStoreError).message, JSON.parse(body).message)
          return true
        })
      }
      tries = 1
      await assert.rejects(client.createPlant({ id: 1, name: 'n' }), { status, mayBeDone: false })
      tries = 0
      await assert.rejects(client.getPlant(1), { status, mayBeDone: false })
    }
  })

  test('takes a list whose pages do not rise, or whose link has no next id, for none of a plant store', async () => {
    for (const links of [['9', '1', '9', '1'], ['5', '5'], ['5', '3'], ['x'], ['']]) {
      let page = 0
      const listener: RequestListener = (_, response) => {
        const after = links[page]
        page += 1
        const link =
          after === undefined ? {} : { link: `</plants?${after === '' ? '' : `after=${after}`}>; rel="next"` }
        response.writeHead(200, { 'content-type': 'application/json', ...link }).end('[]')
      }
      await using store = await answering(...Array.from({ length: 5 }, () => listener))
      await assert.rejects(Array.fromAsync(store.client().listPlants()), /did not answer as a plant store does/)
      assert.ok(page <= 2, links.join())
    }
  })

  test('says what a server that is not there could be', async () => {
    // A port that was just freed may be another test's by now, and fetch refuses port 1.
    const client = new PlantStoreClient({ url: 'http://127.0.0.1:2', triesMax: 2 })
    await assert.rejects(client.getPlant(1n), { message: /cannot be reached: .*ECONNREFUSED/, status: undefined })
    assert.throws(() => new PlantStoreClient({ url: 'ftp://plants.example' }), TypeError)
  })
})
