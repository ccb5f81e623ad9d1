// startPlantStore in a test: its functions, the faults that it injects, and that it leaves nothing behind.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { connect, Socket } from 'node:net'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { PlantStoreClient, PlantStoreError } from '../../client/client.ts'
import { Faults } from '../../src/embed/faults.ts'
import { type Fault, startPlantStore } from '../../src/embed/start.ts'
import { Conformance } from '../support/conformance.ts'
import { makeFolder } from '../support/folder.ts'
import { cleanEnvironment, outputOf } from '../support/program.ts'
import { exhaustive, inRing, testOn } from '../support/ring.ts'
import { until } from '../support/time.ts'

describe('a plant store inside a test', { concurrency: true }, () => {
  test('has the plants that it was given, a token, and tokens with other scopes', async () => {
    const plants = [
      { id: 2n ** 63n - 1n, name: 'Monstera', tag: 'aroid' },
      { id: 1, name: 'Ficus' },
      { id: '-5', name: '' },
      new (class {
        get id(): bigint {
          return 7n
        }
        get name(): string {
          return 'of a class'
        }
      })(),
    ]
    await using store = await startPlantStore({ plants })
    assert.deepEqual(await Array.fromAsync(store.client.listPlants()), [
      { id: -5n, name: '' },
      { id: 1n, name: 'Ficus' },
      { id: 7n, name: 'of a class' },
      { id: 2n ** 63n - 1n, name: 'Monstera', tag: 'aroid' },
    ])
    assert.match(store.url, /^http:\/\/127\.0\.0\.1:\d+$/)
    const answer = await fetch(`${store.url}/plants/1`, { headers: { Authorization: `Bearer ${store.token}` } })
    assert.deepEqual(await answer.json(), { id: 1, name: 'Ficus' })
    const reader = new PlantStoreClient({ url: store.url, token: await store.tokenWith(['plants:read']) })
    assert.equal((await reader.getPlant(1)).name, 'Ficus')
    await assert.rejects(reader.deletePlant(1), { status: 403 })
    await assert.rejects(async () => store.tokenWith(['plants:water' as 'plants:read']), TypeError)
  })

  test('says which plant cannot be created, and starts no server then', async () => {
    const twice = [1, 1].map((id) => ({ id, name: 'n' }))
    await assert.rejects(startPlantStore({ plants: twice }), /id: 1 is already taken/)
    await assert.rejects(startPlantStore({ plants: [{ id: 'one', name: 'n' }] }), /id: must be an integer.*"one"/)
  })

  test('returns to its initial state after a reset', async () => {
    await using store = await startPlantStore({ plants: [{ id: 1, name: 'first', tag: 't' }] })
    const { client } = store
    await client.createPlant({ id: 2, name: 'second' }, { idempotencyKey: 'key' })
    await client.deletePlant(1)
    await store.fail({ times: 100 })
    await store.reset()
    assert.deepEqual(await Array.fromAsync(client.listPlants()), [{ id: 1n, name: 'first', tag: 't' }])
    assert.deepEqual(await client.getSummary(), { plants: 1, tags: [{ tag: 't', plants: 1 }], isExact: true })
    await client.createPlant({ id: 2, name: 'another' }, { idempotencyKey: 'key' })
  })

  test('does one thing after the other, as resets and faults that are asked for at once', async () => {
    await using store = await startPlantStore({ plants: [{ id: 1, name: 'first' }] })
    await Promise.all([store.reset(), store.reset(), store.fail({ operation: 'createPlant', status: 500 })])
    assert.deepEqual(await Array.fromAsync(store.client.listPlants()), [{ id: 1n, name: 'first' }])
    await assert.rejects(store.client.createPlant({ id: 2, name: 'n' }), { status: 500 })
  })

  test('stops once, and rejects later calls', async () => {
    const store = await startPlantStore()
    await Promise.all([store.stop(), store.stop()])
    await store[Symbol.asyncDispose]()
    await assert.rejects(store.reset(), /this plant store was stopped/)
    // Another test's server may have the port by now, but does not know the token.
    await assert.rejects(new PlantStoreClient({ ...store, triesMax: 1 }).getSummary(), PlantStoreError)
  })
})

describe('faults to order', { concurrency: true }, () => {
  const plant = { id: 1, name: 'n' }
  const onPlantStore = testOn(() => startPlantStore({ plants: [plant] }))

  /** What a client that tries once sees of a create, and whether the plant is there afterwards. */
  async function tryOnce(fault: Fault) {
    await using store = await startPlantStore()
    const impatient = new PlantStoreClient({ ...store, triesMax: 1 })
    await store.fail({ operation: 'createPlant', ...fault })
    const startedMs = performance.now()
    const [outcome] = await Promise.allSettled([impatient.createPlant(plant)])
    const ms = performance.now() - startedMs
    const error: PlantStoreError | undefined = outcome.status === 'rejected' ? outcome.reason : undefined
    const isKept = (await store.client.getPlant(1).catch(() => undefined)) !== undefined
    // And it is over.
    await store.client.replacePlant(1, plant).catch(() => {})
    if (!isKept) await impatient.createPlant(plant)
    return { error, isKept, ms }
  }

  test('cut the connection, before or after the plant is kept', async () => {
    const before = await tryOnce({})
    assert.equal(before.isKept, false)
    assert.equal(before.error?.status, undefined)
    assert.match(before.error?.message ?? '', /cannot be reached/)
    const after = await tryOnce({ afterCommit: true })
    assert.equal(after.isKept, true)
    assert.match(after.error?.message ?? '', /cannot be reached/)
  })

  test('refuse with a status and Retry-After, and tell by the number whether anything may be done', async () => {
    const { error, isKept } = await tryOnce({ status: 503, retryAfter: 7 })
    assert.ok(error instanceof PlantStoreError)
    assert.deepEqual([error.status, error.error, error.retryAfter, isKept], [503, 50301, 7, false])
    const unknown = await tryOnce({ status: 503, afterCommit: true })
    assert.deepEqual([unknown.error?.error, unknown.error?.retryAfter, unknown.isKept], [50302, 1, true])
    const other = await tryOnce({ status: 429 })
    assert.deepEqual([other.error?.status, other.error?.error, other.error?.retryAfter], [429, 42901, 1])
    const numbered = await tryOnce({ error: 42201 })
    assert.deepEqual([numbered.error?.status, numbered.error?.error, numbered.isKept], [422, 42201, false])
  })

  onPlantStore('are answers that the document allows, for every status', async (store) => {
    const conformance = await Conformance.fetch(store.url)
    const headers = { Authorization: `Bearer ${store.token}` }
    for (const [method, status] of [
      ...([400, 401, 403, 404, 408, 412, 429, 431, 500, 501, 503] as const).map((status) => ['GET', status] as const),
      ...([401, 404, 429, 503] as const).map((status) => ['HEAD', status] as const),
    ]) {
      await store.fail({ operation: 'getPlant', status })
      const response = await fetch(`${store.url}/plants/1`, { method, headers })
      const body = await response.text()
      assert.equal(response.status, status)
      if (method === 'HEAD') assert.equal(body, '')
      else conformance.check('GET', '/plants/1', { status, headers: new Map(response.headers), body })
    }
  })

  onPlantStore('lose the answer, be it a refusal', async (store) => {
    const impatient = new PlantStoreClient({ ...store, triesMax: 1 })
    await store.fail({ operation: 'createPlant', afterCommit: true, times: 2 })
    await assert.rejects(impatient.createPlant(plant), { status: undefined })
    await assert.rejects(impatient.createPlant({ id: 2, name: 'n' }), { status: undefined })
    assert.equal((await impatient.getPlant(2)).name, 'n')
  })

  test('cut streams of changes, and followers go on', async () => {
    await using store = await startPlantStore()
    const { client } = store
    const failures: Error[] = []
    const stopping = new AbortController()
    const options = { signal: stopping.signal, onFailure: (error: Error) => failures.push(error) }
    const changes = client.followChanges({}, options)
    try {
      await client.createPlant({ id: 1, name: 'n' })
      assert.equal((await changes.next()).value?.plant.id, 1n)
      // First the open stream and the request after it, then the stream that has followed.
      for (const [at, times] of [2, 1].entries()) {
        const next = changes.next()
        await store.fail({ operation: 'listChanges', times })
        await client.createPlant({ id: at + 2, name: 'n' })
        assert.equal((await next).value?.plant.id, BigInt(at + 2))
        assert.equal(failures.length, at + 2)
      }
    } finally {
      stopping.abort()
      await assert.rejects(changes.next())
    }
  })

  onPlantStore('come after the answers of earlier requests on a connection', async (store) => {
    await store.fail({ operation: 'getPlant', delayMs: 200 })
    await store.fail({ operation: 'getPlant', status: 502 })
    const { port } = new URL(store.url)
    const line = `GET /plants/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${store.token}\r\n\r\n`
    const socket = connect(Number(port), '127.0.0.1').setEncoding('latin1')
    socket.write(line + line)
    const text = (await socket.toArray()).join('')
    assert.deepEqual(text.match(/HTTP\/1\.1 \d{3}/g), ['HTTP/1.1 200', 'HTTP/1.1 502'])
  })

  test('answer late', async () => {
    const { error, isKept, ms } = await tryOnce({ delayMs: 300 })
    assert.deepEqual([error, isKept], [undefined, true])
    assert.ok(ms >= 290, `${ms}`)
  })

  onPlantStore('happen to the operation they were ordered for, as often as was said, in their order', async (store) => {
    const impatient = new PlantStoreClient({ ...store, triesMax: 1 })
    await store.fail({ operation: 'getPlant', status: 500, times: 2 })
    await store.fail({ operation: 'getPlant', status: 502 })
    await store.fail({ status: 504 })
    await assert.rejects(impatient.deletePlant(7), { status: 504 })
    for (const status of [500, 500, 502]) await assert.rejects(impatient.getPlant(1), { status })
    assert.equal((await impatient.getPlant(1)).name, 'n')
  })

  test('are refused when they make no sense', async () => {
    await using store = await startPlantStore()
    for (const fault of [
      { times: 0 },
      { status: 200 },
      { retryAfter: 0.5 },
      { delayMs: Number.POSITIVE_INFINITY },
      { afterCommit: 'yes' as unknown as boolean },
      { retryafter: 1 } as Fault,
      { retryAfter: 1 },
      { status: 418 },
      { error: 42900 },
      { status: 404, error: 42901 },
      { delayMs: '5' as unknown as number },
      [] as Fault,
      undefined as unknown as Fault,
    ])
      await assert.rejects(store.fail(fault), TypeError, JSON.stringify(fault))
    await assert.rejects(startPlantStore({ plant: [] } as object), /has no plant, only plants and document$/)
    for (const [options, wrong] of [
      [null, 'the options must be an object'],
      [{ plants: 7 }, 'plants must be an array'],
      [{ plants: [null] }, 'each plant must be an object'],
      [{ document: 7 }, 'document must be a path'],
    ] as const)
      await assert.rejects(startPlantStore(options as object), new RegExp(`^TypeError: ${wrong}`))
    await assert.rejects(store.tokenWith('plants:read' as never), /scopes must be an array/)
    const unknown = { operation: 'createplant' as 'createPlant' }
    await assert.rejects(store.fail(unknown), /there is no operation createplant, only .*createPlant, /)
  })

  test('are cleared once no operation is in progress, so that none changes what a reset restores', async () => {
    const faults = new Faults()
    const { promise: answer, resolve } = Promise.withResolvers<{ readonly status: 204 }>()
    const answered = faults.intercept('deletePlant', () => answer, new Socket())
    const settled: string[] = []
    const clearing = faults.clear().then(() => settled.push('cleared'))
    await setImmediate()
    resolve({ status: 204 })
    await answered.then(() => settled.push('answered'))
    await clearing
    assert.deepEqual(settled, ['answered', 'cleared'])
  })

  onPlantStore('keep nothing back past a reset', async (store) => {
    await store.fail({ operation: 'replacePlant', delayMs: 60_000 })
    await store.fail({ operation: 'deletePlant', delayMs: 60_000, afterCommit: true })
    const impatient = new PlantStoreClient({ ...store, timeoutMs: 200, triesMax: 1 })
    await assert.rejects(impatient.replacePlant(1, { name: 'late' }), /did not answer/)
    const deleting = new PlantStoreClient({ ...store, triesMax: 1 }).deletePlant(1)
    const refused = assert.rejects(deleting, /cannot be reached/)
    await store.fail({ operation: 'createPlant', delayMs: 1 })
    await assert.rejects(store.client.createPlant(plant), { status: 409 })
    await store.reset()
    await refused
    assert.deepEqual(await Array.fromAsync(store.client.listPlants()), [{ id: 1n, name: 'n' }])
    // A fault after it delays again, and cuts nothing.
    await store.fail({ operation: 'getPlant', delayMs: 1 })
    const { name } = await new PlantStoreClient({ ...store, triesMax: 1 }).getPlant(1)
    assert.equal(name, 'n')
  })
})

describe('what is left of a plant store inside a test', { concurrency: 2 }, () => {
  const start = fileURLToPath(new URL('../../src/embed/start.ts', import.meta.url))

  /** Runs a program with several servers, which goes on as `then` says; `first` is what it imports before all else. */
  async function run(then: string, first = '') {
    const folder = await makeFolder()
    const program = `
      ${first}
      import { startPlantStore } from ${JSON.stringify(start)}
      const stores = await Promise.all(Array.from({ length: 5 }, () => startPlantStore({ plants: [{ id: 1, name: 'n' }] })))
      for (const { client } of stores) await client.createPlant({ id: 2, name: 'n' })
      ${then}`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      env: { ...cleanEnvironment(), TMPDIR: folder.path },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const left = (): Promise<string[]> => readdir(folder.path)
    return {
      child,
      output: outputOf(child),
      /** What the program has in its temporary folder. */
      left,
      /** Resolves once nothing that it started runs any more. */
      gone: () => until('the folder is empty', async () => (await left()).length === 0),
      [Symbol.asyncDispose]: async () => {
        child.kill('SIGKILL')
        await folder[Symbol.asyncDispose]()
      },
    }
  }

  for (const [title, then, status] of [
    ['when the test forgets them', '', 0],
    ['when every one was stopped', 'for (const store of stores) await store.stop()', 0],
    ['when the test ends its process', 'process.exit(3)', 3],
    ['when the test throws', "throw new Error('the test')", 1],
  ].slice(0, inRing(1, 4)) as [string, string, number][]) {
    test(`is nothing ${title}`, async () => {
      await using program = await run(then)
      const [exit] = await once(program.child, 'close')
      assert.equal(exit, status, program.output())
      if (status === 0) assert.equal(program.output(), '')
      await program.gone()
    })
  }

  exhaustive.test('is nothing of one that could not start, after which others start', async () => {
    await using program = await run(`
      const folder = process.env.TMPDIR
      for (const store of stores) await store.stop()
      process.env.TMPDIR = folder + '/missing'
      await startPlantStore().catch(({ code }) => console.log(code))
      process.env.TMPDIR = folder
      await startPlantStore({ plants: [{ id: () => 1, name: 'n' }] }).catch(({ name }) => console.log(name))
      await startPlantStore({ plants: [{ id: 1, name: 'n' }, { id: 1, name: 'n' }] }).catch(() => console.log('twice'))
      const store = await startPlantStore()
      await store.stop()`)
    const [exit] = await once(program.child, 'close')
    assert.equal(exit, 0, program.output())
    assert.equal(program.output(), 'ENOENT\nDataCloneError\ntwice\n')
    await program.gone()
  })

  exhaustive.test('is no thread after a while, and the next start makes another', async () => {
    const watched = "process.on('worker', (thread) => thread.once('exit', () => console.log('ended')))"
    await using program = await run(
      `
      for (const store of stores) await store.stop()
      process.stdin.resume()
      process.stdin.once('end', async () => {
        console.log(await stores[0].reset().catch(({ message }) => message))
        const again = await startPlantStore({ plants: [{ id: 1, name: 'again' }] })
        console.log((await again.client.getPlant(1)).name)
        process.exit()
      })`,
      `import ${JSON.stringify(`data:text/javascript,${watched}`)}`,
    )
    await until('the thread has ended', () => program.output() === 'ended\n')
    program.child.stdin?.end()
    await once(program.child, 'close')
    assert.equal(program.output(), 'ended\nthis plant store was stopped\nagain\n')
    await program.gone()
  })

  exhaustive.test('is nothing although its keeper was killed', { skip: !existsSync('/proc/self') }, async () => {
    await using program = await run(`
      import { existsSync, readFileSync } from 'node:fs'
      const [keeper] = readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8').split(' ')
      process.kill(Number(keeper), 'SIGKILL')
      while (existsSync('/proc/' + keeper)) await new Promise((resolve) => setImmediate(resolve))
      for (const store of stores) await store.stop()`)
    const [exit] = await once(program.child, 'close')
    assert.deepEqual([exit, program.output()], [0, ''])
    await program.gone()
  })

  exhaustive.test('is nothing when the test is killed', async () => {
    await using program = await run("console.log('ready'); setInterval(() => {}, 1_000)")
    await until('the servers run', () => program.output() !== '')
    assert.equal(program.output(), 'ready\n')
    assert.equal((await program.left()).length, 1)
    program.child.kill('SIGKILL')
    await program.gone()
  })
})

// On its own: `fetch` itself needs timers, so the tests beside it would wait.
test('a plant store serves while the timers of the test stand still', async (context) => {
  await using store = await startPlantStore({ plants: [{ id: 1, name: 'n' }] })
  context.mock.timers.enable()
  const answer = fetch(`${store.url}/plants/1`, { headers: { Authorization: `Bearer ${store.token}` } })
  assert.equal((await answer).status, 200)
})
