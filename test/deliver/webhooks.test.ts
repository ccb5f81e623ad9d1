// Webhooks: what is sent to a real receiver from a real store. test/cli/webhook.test.ts has the commands, and
// `npm run torture -- webhooks` the crashes.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook as Verifier } from 'standardwebhooks'
import { Webhooks, type WebhooksOptions } from '../../src/deliver/webhooks.ts'
import { systemClock } from '../../src/domain/clock.ts'
import type { ServiceEvent } from '../../src/domain/events.ts'
import type { Store } from '../../src/domain/store.ts'
import type { StoredWebhook, Webhook } from '../../src/domain/webhook.ts'
import { limits } from '../../src/limits.ts'
import { makeFolder } from '../support/folder.ts'
import { type Answer, type Receiver, startReceiver } from '../support/receiver.ts'
import { openTestStore } from '../support/store.ts'
import { until } from '../support/time.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const quick = { ...limits, webhookPollMs: 10, webhookRefreshMs: 30, webhookSaveMs: 20, webhookRetryMs: 20 }

interface Setup extends AsyncDisposable {
  readonly store: Store
  readonly events: ServiceEvent[]
  /** Adds a webhook, and starts to send. */
  send(receiver: Pick<Receiver, 'url'>, more?: Partial<Webhook>): Promise<string>
  /** Starts another server on the same store. */
  start(changed?: Partial<WebhooksOptions>): Webhooks
  find(id: string): Promise<StoredWebhook>
}

async function setUp(changed: Partial<Record<keyof typeof quick, number>> = {}): Promise<Setup> {
  const folder = await makeFolder()
  const store = await openTestStore(folder.file('plants.db'))
  const events: ServiceEvent[] = []
  const running = new Set<Webhooks>()
  const start = (other: Partial<WebhooksOptions> = {}): Webhooks => {
    const webhooks = new Webhooks({
      store,
      clock: systemClock,
      observe: (event) => events.push(event),
      limits: { ...quick, ...changed },
      userAgent: 'plantstore/test',
      ...other,
    })
    running.add(webhooks)
    return webhooks
  }
  return {
    store,
    events,
    start,
    send: async ({ url }, more) => {
      const id = `hook_${randomBytes(6).toString('hex')}`
      const { next } = await store.listChanges({ after: 'now', kind: undefined, limit: 1 })
      await store.addWebhook({
        id,
        name: 'n',
        url,
        kinds: ['created', 'replaced', 'deleted'],
        secrets: [{ secret }],
        createdAtMs: 1,
        progress: { after: next, pending: [] },
        ...more,
      })
      if (running.size === 0) start()
      return id
    },
    find: async (id) => (await store.listWebhooks()).find((each) => each.id === id) as StoredWebhook,
    [Symbol.asyncDispose]: async () => {
      for (const webhooks of running) await webhooks[Symbol.asyncDispose]()
      await store.close()
      await folder[Symbol.asyncDispose]()
    },
  }
}

const refuse =
  (status: number, fields = {}): Answer =>
  (_, response) =>
    void response.writeHead(status, fields).end()
const accept = refuse(200)
const kindOf = ({ id }: { readonly id: string }): string => id.split('_')[0] ?? ''
const plantIdOf = ({ body }: { readonly body: string }): string => /"id":(-?\d+)/.exec(body)?.[1] ?? ''

describe('a webhook', { concurrency: true }, () => {
  test('gets each change of its kinds once, with every digit of the id', async () => {
    await using setup = await setUp()
    const { store } = setup
    await using all = await startReceiver()
    await using created = await startReceiver()
    await setup.send(all)
    await setup.send(created, { kinds: ['created'] })
    const id = 2n ** 63n - 1n
    await store.createPlant({ id, name: 'a "\u2028" 🌿', tag: '' })
    await store.replacePlant({ id, name: 'b' })
    await store.replacePlant({ id, name: 'b' })
    await store.deletePlant(id)
    await store.createPlant({ id: -1n, name: 'c' })
    await until('all is sent', () => all.received.length === 4 && created.received.length === 2)
    assert.deepEqual(
      all.received.map((each) => `${kindOf(each)} ${each.body}`).filter((text) => text.includes(String(id))),
      [
        `created {"id":${id},"name":"a \\"\u2028\\" 🌿","tag":""}`,
        `replaced {"id":${id},"name":"b"}`,
        `deleted {"id":${id},"name":"b"}`,
      ],
    )
    assert.deepEqual(created.received.map(plantIdOf).sort(), ['-1', String(id)])
    const [first] = all.received
    assert.equal(first?.headers['content-type'], 'application/json')
    assert.equal(first?.headers['user-agent'], 'plantstore/test')
    assert.equal(new Set(all.received.map((each) => each.id)).size, 4)
  })

  test('is signed as Standard Webhooks has it, by the old secret, too, until it ends', async () => {
    await using setup = await setUp()
    await using receiver = await startReceiver()
    const [newest, ended] = [newSecret(), newSecret()]
    const secrets = [{ secret: newest }, { secret, endsAtMs: Date.now() + 60_000 }, { secret: ended, endsAtMs: 1 }]
    await setup.send(receiver, { secrets })
    await setup.store.createPlant({ id: 1n, name: 'Ficus 🌿' })
    await until('it is sent', () => receiver.received.length === 1)
    const [{ body, headers }] = receiver.received as [Receiver['received'][0]]
    const fields = headers as Record<string, string>
    for (const each of [newest, secret]) {
      assert.deepEqual(new Verifier(each).verify(body, fields), { id: 1, name: 'Ficus 🌿' })
      assert.throws(() => new Verifier(each).verify(body.replace('1', '2'), fields))
      const otherId = { ...fields, 'webhook-id': headers['webhook-id']?.toString().replace('created', 'deleted') ?? '' }
      assert.throws(() => new Verifier(each).verify(body, otherId))
      assert.throws(() => new Verifier(each).verify(body, { ...fields, 'webhook-timestamp': '1' }))
    }
    assert.throws(() => new Verifier(ended).verify(body, fields))
  })

  test('sends a change again until it is accepted, with the same id, and later ones of the plant behind it', async () => {
    await using setup = await setUp()
    const { store } = setup
    let refusals = 0
    await using receiver = await startReceiver((received, response) => {
      const others = receiver.received.filter((each) => plantIdOf(each) !== '1')
      // The others do not wait: the first is accepted only after them.
      if (plantIdOf(received) !== '1' || (refusals >= 2 && others.length === 2)) return accept(received, response)
      refusals += 1
      refuse(500)(received, response)
    })
    await setup.send(receiver)
    await store.createPlant({ id: 1n, name: 'n' })
    await store.deletePlant(1n)
    await Promise.all([2n, 3n].map((id) => store.createPlant({ id, name: 'n' })))
    const isAccepted = (event: ServiceEvent): boolean => event.kind === 'webhookSent' && event.isAccepted
    await until('all is accepted', () => setup.events.filter(isAccepted).length === 4)
    const ofOne = receiver.received.filter((each) => plantIdOf(each) === '1')
    assert.deepEqual(ofOne.map(kindOf), [...Array(refusals + 1).fill('created'), 'deleted'])
    assert.equal(new Set(ofOne.map(({ id }) => id)).size, 2)
    const tries = setup.events.flatMap((event) => (event.kind === 'webhookSent' ? [event.tries] : []))
    assert.equal(Math.max(...tries), refusals + 1)
  })

  for (const [what, answer, outcome] of [
    ['a redirect', refuse(307, { location: '/elsewhere' }), '307'],
    ['no answer in time', () => {}, 'no answer within 0.1 s'],
    ['a connection that ends', (_, response) => void response.socket?.destroy(), 'socket hang up'],
    ['a page that says sorry', refuse(404), '404'],
  ] as const satisfies readonly (readonly [string, Answer, string])[]) {
    test(`takes ${what} for a failure, and goes on`, async () => {
      await using setup = await setUp({ webhookAnswerMsMax: 100 })
      let isBack = false
      await using receiver = await startReceiver((received, response) => (isBack ? accept : answer)(received, response))
      const id = await setup.send(receiver)
      await setup.store.createPlant({ id: 1n, name: 'n' })
      await until('it failed', async () => (await setup.find(id)).progress.last?.outcome === outcome)
      assert.equal((await setup.find(id)).progress.pending.length, 1)
      isBack = true
      await until('it is accepted', async () => (await setup.find(id)).progress.pending.length === 0)
      assert.equal(new Set(receiver.received.map((each) => each.id)).size, 1)
    })
  }

  test('obeys Retry-After', async () => {
    await using setup = await setUp()
    await using receiver = await startReceiver((received, response) =>
      (receiver.received.length === 1 ? refuse(503, { 'retry-after': '1' }) : accept)(received, response),
    )
    await setup.send(receiver)
    await setup.store.createPlant({ id: 1n, name: 'n' })
    await until('it is asked to wait', () => receiver.received.length === 1)
    await setup.store.createPlant({ id: 2n, name: 'n' })
    await until('all is sent', () => receiver.received.length === 3)
    const [first, second] = receiver.received
    assert.ok((second?.atMs ?? 0) - (first?.atMs ?? 0) >= 990)
  })

  test('is paused by 410, keeps its changes, and sends them when it is resumed', async () => {
    await using setup = await setUp()
    let isGone = true
    await using receiver = await startReceiver((...answered) => (isGone ? refuse(410) : accept)(...answered))
    const id = await setup.send(receiver)
    await setup.store.createPlant({ id: 1n, name: 'n' })
    await until('it is paused', async () => (await setup.find(id)).paused?.reason === 'gone')
    await setup.store.createPlant({ id: 2n, name: 'n' })
    assert.ok(setup.events.some(({ kind }) => kind === 'webhookPaused'))
    await sleep(200)
    assert.equal(receiver.received.length, 1)
    isGone = false
    const { version, paused: _, ...hook } = await setup.find(id)
    const pending = hook.progress.pending.map((each) => ({ ...each, dueMs: 0 }))
    assert.equal(await setup.store.replaceWebhook({ ...hook, progress: { ...hook.progress, pending } }, version), true)
    await until('both are sent', () => receiver.received.length === 3)
  })

  test('is paused when a change has failed for too long, and when the log does not have its changes', async () => {
    await using setup = await setUp({ webhookGiveUpMs: 100 })
    await using receiver = await startReceiver(refuse(500))
    const failing = await setup.send(receiver)
    await setup.store.createPlant({ id: 1n, name: 'n' })
    await until('it is paused', async () => (await setup.find(failing)).paused?.reason === 'failing')
    const lost = await setup.send(receiver, { progress: { after: '1-1', pending: [] } })
    await until('it is paused, too', async () => (await setup.find(lost)).paused?.reason === 'lost')
  })

  test('that is slow gets few requests at once, and delays no other', async () => {
    await using setup = await setUp()
    await using slow = await startReceiver(() => {})
    await using other = await startReceiver()
    await setup.send(slow)
    await setup.send(other)
    await createPlants(setup.store, 300)
    await until('the other has all', () => other.received.length === 300)
    assert.equal(slow.received.length, limits.webhookInFlightMax)
    assert.ok(other.atOnceMax <= limits.webhookInFlightMax)
  })

  test('that fails has a bounded number of changes waiting, and gets all of them', async () => {
    await using setup = await setUp({ webhookPendingMax: 50, webhookPage: 20, webhookRetryMs: 500 })
    let isBack = false
    await using receiver = await startReceiver((...answered) => (isBack ? accept : refuse(503))(...answered))
    const id = await setup.send(receiver)
    await createPlants(setup.store, 200)
    await until('many wait', async () => (await setup.find(id)).progress.pending.length >= 50)
    assert.ok((await setup.find(id)).progress.pending.length < 70)
    isBack = true
    await until('all came', () => new Set(receiver.received.map(plantIdOf)).size === 200)
    await until('all is stored', async () => (await setup.find(id)).progress.pending.length === 0)
  })

  test('that accepts a change after many failures gets the others at once', async () => {
    await using setup = await setUp({ webhookRetryMs: 1_000_000 })
    let isBack = false
    await using receiver = await startReceiver((...answered) => (isBack ? accept : refuse(500))(...answered))
    await setup.send(receiver)
    await createPlants(setup.store, 20)
    await until('all failed', () => receiver.received.length === 20)
    isBack = true
    await setup.store.createPlant({ id: 99n, name: 'n' })
    await until('all came again', () => receiver.received.length === 41)
  })

  test('reads little of an endless answer', async () => {
    await using setup = await setUp()
    let [cut, bytes] = [0, 0]
    await using receiver = await startReceiver((_, response) => {
      const write = (): void => {
        for (let isWritten = true; isWritten && !response.destroyed; ) {
          isWritten = response.write(Buffer.alloc(16 * 1024))
          bytes += 16 * 1024
        }
        if (!response.destroyed) response.once('drain', write)
      }
      response.on('close', () => {
        cut += 1
      })
      write()
    })
    await setup.send(receiver)
    for (const id of [1n, 2n, 3n]) await setup.store.createPlant({ id, name: 'n' })
    await until('all are cut', () => cut === 3)
    assert.ok(bytes < 64 * 1024 * 1024, `${bytes} bytes`)
    assert.equal(setup.events.filter((event) => event.kind === 'webhookSent' && event.isAccepted).length, 3)
  })

  test('goes on where it was after a restart, with what was not accepted', async () => {
    await using setup = await setUp()
    let isBack = false
    await using receiver = await startReceiver((received, response) =>
      (isBack || plantIdOf(received) !== '1' ? accept : refuse(500))(received, response),
    )
    const first = setup.start()
    const id = await setup.send(receiver)
    for (const plant of [1n, 2n, 3n]) await setup.store.createPlant({ id: plant, name: 'n' })
    await until('two are accepted', async () => {
      const { pending, after } = (await setup.find(id)).progress
      return pending.length === 1 && after === (await setup.store.listChanges({ ...nothing, after: 'now' })).next
    })
    await first[Symbol.asyncDispose]()
    assert.equal((await setup.find(id)).owner, undefined)
    isBack = true
    receiver.received.length = 0
    setup.start()
    await until('the first is accepted', () => receiver.received.length === 1)
    await sleep(100)
    assert.deepEqual(receiver.received.map(plantIdOf), ['1'])
  })

  test('is sent by one of several servers, and by another when that one is silent', async () => {
    await using setup = await setUp()
    await using receiver = await startReceiver()
    // A file has one server. This one has several, as a database may.
    const store = new Proxy(setup.store, {
      get: (own, name: keyof Store) => {
        if (name === 'isShared') return true
        const value = own[name] as unknown
        return typeof value === 'function' ? value.bind(own) : value
      },
    })
    const own = { ...quick, webhookLeaseMs: 400, webhookLeaseMarginMs: 100 }
    let isSilent = false
    const silent = new Proxy(store, {
      get: (to, name: keyof Store) => (name === 'replaceWebhook' && isSilent ? () => Promise.resolve(false) : to[name]),
    })
    setup.start({ store: silent, limits: own })
    const id = await setup.send(receiver)
    await until('the first sends', async () => (await setup.find(id)).owner !== undefined)
    const { owner } = await setup.find(id)
    setup.start({ store, limits: own })
    for (let plant = 0n; plant < 50n; plant += 1n) {
      await setup.store.createPlant({ id: plant, name: 'n' })
      await sleep(10)
    }
    await until('all is sent', () => receiver.received.length === 50)
    assert.equal((await setup.find(id)).owner, owner)
    isSilent = true
    await until('the other sends', async () => (await setup.find(id)).owner !== owner)
    await setup.store.createPlant({ id: 99n, name: 'n' })
    await until('it is sent', () => receiver.received.some((each) => plantIdOf(each) === '99'))
    await sleep(200)
    assert.equal(receiver.received.filter((each) => plantIdOf(each) === '99').length, 1)
  })
})

const nothing = { kind: undefined, limit: 1 } as const

function createPlants(store: Store, count: number): Promise<unknown> {
  return Promise.all(Array.from({ length: count }, (_, id) => store.createPlant({ id: BigInt(id), name: 'n' })))
}

function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}
