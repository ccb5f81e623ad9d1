// Webhooks from a real store to a real receiver, with a simulated clock. deliveries.test.ts has the choice of the next
// change, test/cli/webhook.test.ts the commands, and `npm run torture -- webhooks` the crashes.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import dns from 'node:dns/promises'
import { syncBuiltinESMExports } from 'node:module'
import type { Socket } from 'node:net'
import { describe, test } from 'node:test'
import { Webhook as Verifier } from 'standardwebhooks'
import { openSender } from '../../src/deliver/post.ts'
import { Webhooks, type WebhooksOptions } from '../../src/deliver/webhooks.ts'
import { changeKinds } from '../../src/domain/change.ts'
import { systemClock } from '../../src/domain/clock.ts'
import type { ServiceEvent } from '../../src/domain/events.ts'
import type { Store } from '../../src/domain/store.ts'
import { beginAfter, type StoredWebhook, type Webhook } from '../../src/domain/webhook.ts'
import { limits } from '../../src/limits.ts'
import { startSweeping } from '../../src/serve/sweeping.ts'
import { newWebhook } from '../store/suite.ts'
import { type Answer, type Receiver, startReceiver } from '../support/answering.ts'
import { makeFolder } from '../support/folder.ts'
import { toPlant } from '../support/plants.ts'
import { inRing, sampleOf, testOn } from '../support/ring.ts'
import { openTestStore } from '../support/store.ts'
import { assertPrompt, until } from '../support/time.ts'
import { FakeTimer } from './fake-timer.ts'
import { endlessAnswers, misbehaviours, startOddReceiver } from './odd-receivers.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const hour = 3_600_000

type Setup = Awaited<ReturnType<typeof setUp>>

async function setUp() {
  const folder = await makeFolder()
  const clock = new FakeTimer()
  const store = await openTestStore(folder.file('plants.db'), { clock })
  const events: ServiceEvent[] = []
  const running = new Set<Webhooks>()
  /** Starts another server on the same store. */
  const start = (other: Partial<WebhooksOptions> = {}): Webhooks => {
    const webhooks = new Webhooks({
      store,
      clock,
      random: () => 0.5,
      observe: (event) => events.push(event),
      limits,
      userAgent: 'plantstore/test',
      ...other,
    })
    running.add(webhooks)
    return webhooks
  }
  /** Lets time pass, in steps, until something has come about. */
  const passes = (what: string, condition: () => boolean | Promise<boolean>, stepMs = 100): Promise<void> =>
    until(what, async () => {
      if (await condition()) return true
      clock.pass(stepMs)
      return false
    })
  return {
    store,
    clock,
    events,
    start,
    passes,
    /** Adds a webhook, and starts to send. */
    send: async ({ url }: Pick<Receiver, 'url'>, more?: Partial<Webhook>): Promise<string> => {
      const { next } = await store.listChanges({ after: 'now', kind: undefined, limit: 1 })
      const hook = { ...hookAfter(url, next), ...more }
      await store.addWebhook(hook)
      if (running.size === 0) start()
      return hook.id
    },
    find: async (id: string) => (await store.listWebhooks()).find((each) => each.id === id) as StoredWebhook,
    [Symbol.asyncDispose]: async () => {
      let isDone = false
      void Promise.all([...running].map((each) => each[Symbol.asyncDispose]())).then(() => {
        isDone = true
      })
      running.clear()
      await passes('all have stopped', () => isDone)
      await store.close()
      await folder[Symbol.asyncDispose]()
    },
  }
}

const onSetup = testOn(() => setUp())

const refuse = (status: number, fields = {}): Answer => {
  return (_, response) => void response.writeHead(status, fields).end()
}
const accept = refuse(200)
const kindOf = ({ id }: { readonly id: string }): string => id.split('_')[0] ?? ''
const plantIdOf = ({ body }: { readonly body: string }): string => /"id":(-?\d+)/.exec(body)?.[1] ?? ''

describe('a webhook', { concurrency: true }, () => {
  onSetup('gets each change of its kinds once, with every digit of the id', async (setup) => {
    const { store } = setup
    await using all = await startReceiver()
    await using created = await startReceiver()
    await setup.send(all)
    await setup.send(created, { kinds: ['created'] })
    const id = 2n ** 63n - 1n
    await store.createPlant(toPlant({ id, name: 'a "\u2028" 🌿', tag: '' }))
    await store.replacePlant(toPlant({ id, name: 'b' }))
    await store.replacePlant(toPlant({ id, name: 'b' }))
    await store.deletePlant(id)
    await store.createPlant(toPlant({ id: -1n, name: 'c' }))
    await setup.passes('all is sent', () => all.received.length === 4 && created.received.length === 2)
    const found = all.received.map((each) => `${kindOf(each)} ${each.body}`).filter((text) => text.includes(String(id)))
    assert.deepEqual(found, [
      `created {"id":${id},"name":"a \\"\u2028\\" 🌿","tag":""}`,
      `replaced {"id":${id},"name":"b"}`,
      `deleted {"id":${id},"name":"b"}`,
    ])
    assert.deepEqual(created.received.map(plantIdOf).sort(), ['-1', String(id)])
    const [first] = all.received
    assert.equal(first?.headers['content-type'], 'application/json')
    assert.equal(first?.headers['user-agent'], 'plantstore/test')
    assert.equal(new Set([...all.received, ...created.received].map((each) => each.id)).size, 6)
  })

  onSetup('is signed as Standard Webhooks has it, by a replaced secret, too, until it ends', async (setup) => {
    await using receiver = await startReceiver()
    const newest = newSecret()
    const endsAtMs = setup.clock.wallMs() + hour
    await setup.send(receiver, { secrets: [{ secret: newest }, { secret, endsAtMs }] })
    await setup.store.createPlant(toPlant({ id: 1n, name: 'Ficus 🌿' }))
    await setup.passes('it is sent', () => receiver.received.length === 1)
    const [{ body, headers }] = receiver.received as [Receiver['received'][0]]
    const fields = headers as Record<string, string>
    assert.equal(fields['webhook-signature']?.split(' ').length, 2)
    for (const each of [newest, secret]) {
      // The receiver's clock is another one: the timestamp is not compared with it here.
      const at = new Date(Number(fields['webhook-timestamp']) * 1_000)
      const signed = new Verifier(each).sign(fields['webhook-id'] ?? '', at, body)
      assert.ok(fields['webhook-signature']?.includes(signed))
    }
    assert.ok(Math.abs(Number(fields['webhook-timestamp']) * 1_000 - setup.clock.wallMs()) < 10_000)
    setup.clock.pass(hour)
    await setup.store.createPlant(toPlant({ id: 2n, name: 'n' }))
    await setup.passes('another is sent', () => receiver.received.length === 2)
    assert.equal(receiver.received[1]?.headers['webhook-signature']?.toString().split(' ').length, 1)
  })

  onSetup('continues at once while there are more changes, without waiting for the next poll', async (setup) => {
    await using receiver = await startReceiver()
    // Several pages.
    await createPlants(setup.store, 500)
    await setup.send(receiver, { progress: beginAfter(undefined) })
    // No time passes but that of the first looks.
    await until('all came', () => receiver.received.length === 500)
    assert.ok(receiver.atOnceMax <= limits.webhookInFlightMax)
  })

  onSetup('stores its progress again if that has failed', async ({ store, clock, events, send, find, passes }) => {
    await using receiver = await startReceiver()
    const id = await send(receiver)
    await passes('it is held', async () => (await find(id)).owner !== undefined)
    const { replaceWebhook } = store
    store.replaceWebhook = async () => false
    await store.createPlant(toPlant({ id: 1n, name: 'n' }))
    await passes('it is sent', () => events.some(({ kind }) => kind === 'webhookSent'))
    const sentMs = clock.monotonicMs()
    await passes('five seconds have passed', () => clock.monotonicMs() - sentMs > 5_000)
    store.replaceWebhook = replaceWebhook
    await passes('that is stored', async () => (await find(id)).progress.last !== undefined)
  })

  onSetup('looks no more often at a log that cannot be read, and warns of it once', async (setup) => {
    const { store, clock, events, passes } = setup
    await store.addWebhook(hookAfter('http://127.0.0.1:9/', '1-1'))
    let looks = 0
    store.listChanges = () => {
      looks += 1
      return Promise.reject(new Error('the store is away'))
    }
    setup.start()
    await passes('ten seconds have passed', () => clock.monotonicMs() >= 10_000)
    const looksMax = 10_000 / limits.webhookPollMs + 1
    assert.ok(looks > 0 && looks <= looksMax, `${looks} looks`)
    assert.deepEqual(events, [{ kind: 'storeWarning', message: 'webhooks are not sent: the store is away' }])
  })

  test('waits for as long as its receiver asks, by a number or a date', async () => {
    for (const [asked, least, most] of [
      ['date', 58_000, 62_000],
      ['-5', 4_000, 7_000],
      ['soon', 4_000, 7_000],
      ['Fri, 31 Dec 9999 23:59:59 GMT', hour - 2_000, hour + 60_000],
    ] as const) {
      await using setup = await setUp()
      const field = asked === 'date' ? new Date(setup.clock.wallMs() + 60_000).toUTCString() : asked
      await using receiver = await startReceiver(refuse(503, { 'retry-after': field }))
      await setup.send(receiver)
      await setup.store.createPlant(toPlant({ id: 1n, name: 'n' }))
      const sent = () => setup.events.find((event) => event.kind === 'webhookSent')
      await setup.passes('it is asked to wait', () => sent() !== undefined)
      const { againInMs = Number.NaN } = sent() ?? {}
      assert.ok(againInMs >= least && againInMs <= most, `${asked}: ${againInMs} ms`)
    }
  })

  onSetup('waits by a clock that no operator sets', async (setup) => {
    let isBack = false
    await using receiver = await startReceiver((...answered) => (isBack ? accept : refuse(500))(...answered))
    setup.clock.setWall(setup.clock.wallMs() + 24 * hour)
    await setup.send(receiver)
    await setup.store.createPlant(toPlant({ id: 1n, name: 'n' }))
    await setup.passes('it failed', () => setup.events.some(({ kind }) => kind === 'webhookSent'))
    setup.clock.setWall(setup.clock.wallMs() - 48 * hour)
    isBack = true
    const startMs = setup.clock.monotonicMs()
    await setup.passes('it is sent again', () => receiver.received.length === 2)
    assert.ok(setup.clock.monotonicMs() - startMs < hour)
  })

  test('is paused when nothing was accepted for three days, when the log does not have its changes, and by 410', async () => {
    await using setup = await setUp()
    await using receiver = await startReceiver(refuse(500))
    const webhooks = setup.start()
    const failing = await setup.send(receiver)
    await createPlants(setup.store, 50)
    const startMs = setup.clock.monotonicMs()
    await setup.passes('it is paused', async () => (await setup.find(failing)).paused?.reason === 'failing', hour)
    assert.ok(setup.clock.monotonicMs() - startMs > 70 * hour)
    assert.ok(receiver.received.length < 100, `${receiver.received.length} requests`)
    const lost = await setup.send(receiver, { progress: beginAfter('1-1') })
    await setup.passes('it is paused, too', async () => (await setup.find(lost)).paused?.reason === 'lost')
    await using gone = await startReceiver(refuse(410))
    const id = await setup.send(gone)
    await setup.store.createPlant(toPlant({ id: 99n, name: 'n' }))
    await setup.passes('it is paused, too', async () => (await setup.find(id)).paused?.reason === 'gone')
    assert.ok(setup.events.some(({ kind }) => kind === 'webhookPaused'))
    const pausedMs = setup.clock.monotonicMs()
    await setup.passes('a day has passed', () => setup.clock.monotonicMs() - pausedMs > 24 * hour, hour)
    assert.equal(gone.received.length, 1)
    assert.ok(webhooks.figures.length === 3 && webhooks.figures.every(({ isPaused }) => isPaused))
  })

  onSetup('is paused if somebody has damaged its row, and stops no other', async (setup) => {
    await using receiver = await startReceiver(accept)
    const { next: after } = await setup.store.listChanges({ after: 'now', kind: undefined, limit: 1 })
    const begun = beginAfter(after)
    const damages: readonly object[] = [
      { url: 'nowhere' },
      { name: 5 },
      { kinds: ['moved'] },
      { secrets: [{}] },
      { paused: { reason: 'x', atMs: 1 } },
      { createdAtMs: null },
      { progress: 5 },
      { progress: { ...begun, failures: 'x' } },
      { progress: { ...begun, last: {} } },
      { progress: { ...begun, blocked: [{}] } },
      { progress: { ...begun, blocked: [{ plantId: '1', until: 'x-1', atMs: 1, tries: 1 }] } },
      { progress: { ...begun, blocked: [{ plantId: '1', until: after, atMs: 1 }] } },
    ]
    for (const damage of damages) await setup.store.addWebhook({ ...hookAfter(receiver.url, after), ...damage })
    await setup.send(receiver)
    await setup.store.createPlant(toPlant({ id: 1n, name: 'n' }))
    await setup.passes('the whole one has sent', () => receiver.received.length === 1)
    await setup.passes('a minute has passed', () => setup.clock.monotonicMs() > 60_000, 1_000)
    const paused = setup.events.flatMap((event) => (event.kind === 'webhookPaused' ? [event.reason] : []))
    const expected = damages.map(() => 'damaged')
    assert.deepEqual(paused, expected)
    assert.equal(receiver.received.length, 1)
  })

  for (const [title, keptMs, changesBytesMax, keptHours, isBlocked] of [
    ['has its changes in the log for three days, although others are kept less', 0, limits.changesBytesMax, [0], false],
    ['has those of a plant that is blocked, too', 0, limits.changesBytesMax, [0], true],
    ['has them for longer, if others are kept longer', 168 * hour, limits.changesBytesMax, [0, 100], false],
    ['has them only while the log is not too large', 0, 1_000, [], false],
  ] as const) {
    onSetup(title, async ({ store, clock }) => {
      const { next: start } = await store.listChanges({ after: 'now', kind: undefined, limit: 1 })
      await createPlants(store, 100)
      const { next: end } = await store.listChanges({ after: 'now', kind: undefined, limit: 1 })
      const blocked = [{ plantId: '1', after: start, until: end, atMs: 1, tries: 1 }]
      const progress = isBlocked ? { ...beginAfter(end), blocked } : beginAfter(start)
      await store.addWebhook({ ...hookAfter('http://127.0.0.1:9/', start), progress })
      clock.pass(hour)
      using _sweeping = startSweeping(store, keptMs, clock, { ...limits, changesBytesMax, changesSweepMs: 1 })
      await store.createPlant(toPlant({ id: 1_000n, name: 'n' }))
      const isThere = async (): Promise<boolean> =>
        (await store.listChanges({ after: start, kind: undefined, limit: 1 }).catch(() => undefined)) !== undefined
      // It sweeps again and again meanwhile.
      let sweeps = 0
      const { listWebhooks } = store
      store.listWebhooks = () => {
        sweeps += 1
        return listWebhooks.call(store)
      }
      for (const hours of keptHours) {
        clock.pass(hours * hour)
        sweeps = 0
        await until('it has swept', () => sweeps >= 5)
        assert.ok(await isThere())
      }
      clock.pass(72 * hour)
      await until('the changes are swept', async () => !(await isThere()))
    })
  }

  onSetup('continues after a restart, with the changes that were not accepted', async (setup) => {
    let isBack = false
    await using receiver = await startReceiver((received, response) =>
      (isBack || plantIdOf(received) !== '1' ? accept : refuse(500))(received, response),
    )
    const first = setup.start()
    const id = await setup.send(receiver)
    for (const plant of [1n, 2n, 3n]) await setup.store.createPlant(toPlant({ id: plant, name: 'n' }))
    await setup.passes('all were sent', () => new Set(receiver.received.map(plantIdOf)).size === 3)
    await until('all were answered', () => setup.events.filter(({ kind }) => kind === 'webhookSent').length >= 3)
    await first[Symbol.asyncDispose]()
    assert.equal((await setup.find(id)).owner, undefined)
    isBack = true
    receiver.received.length = 0
    setup.start()
    await setup.passes('the first is accepted', async () => (await setup.find(id)).progress.blocked.length === 0)
    assert.deepEqual(receiver.received.map(plantIdOf), ['1'])
  })

  test('is let go of with its progress, although others change its row meanwhile; the first pause stays', async () => {
    await using setup = await setUp()
    const { store, find } = setup
    await using receiver = await startReceiver(refuse(410))
    const id = await setup.send(receiver)
    const others = { secrets: [{ secret: newSecret() }], paused: { reason: 'operator', atMs: 1 } } as const
    const { replaceWebhook } = store
    store.replaceWebhook = async (hook, version) => {
      if (hook.owner === undefined) {
        store.replaceWebhook = replaceWebhook
        assert.ok(await store.replaceWebhook({ ...(await find(id)), ...others }, version))
      }
      return replaceWebhook.call(store, hook, version)
    }
    await store.createPlant(toPlant({ id: 1n, name: 'n' }))
    await setup.passes('it is let go of', async () => {
      const { owner, paused } = await find(id)
      return owner === undefined && paused !== undefined
    })
    const { progress, secrets, paused } = await find(id)
    assert.deepEqual({ secrets, paused }, others)
    assert.equal(progress.blocked.length, 1)
    assert.ok(!setup.events.some(({ kind }) => kind === 'webhookPaused'))
  })

  test('that another server holds is sent by that server, and by another one when it is silent for a lease', async () => {
    await using setup = await setUp()
    const { clock, passes } = setup
    await using receiver = await startReceiver()
    let isSilent = false
    setup.start({ store: sharedOf(setup.store, () => isSilent) })
    const id = await setup.send(receiver)
    await passes('the first sends', async () => (await setup.find(id)).owner !== undefined)
    const { owner } = await setup.find(id)
    const other = setup.start({ store: sharedOf(setup.store) })
    for (let plant = 0n; plant < 20n; plant += 1n) await setup.store.createPlant(toPlant({ id: plant, name: 'n' }))
    await passes('all is sent', () => receiver.received.length === 20)
    const heldMs = clock.monotonicMs()
    const { version } = await setup.find(id)
    const { webhookLeaseMs, webhookLeaseMarginMs } = limits
    await passes('three leases have passed', () => clock.monotonicMs() - heldMs > 3 * webhookLeaseMs)
    const held = await setup.find(id)
    assert.equal(held.owner, owner)
    assert.ok(held.version - version <= 2 + (3 * webhookLeaseMs) / webhookLeaseMarginMs, 'it is renewed now and then')
    isSilent = true
    const silentMs = clock.monotonicMs()
    await passes('the other sends', async () => (await setup.find(id)).owner !== owner)
    const tookMs = clock.monotonicMs() - silentMs
    assert.ok(tookMs >= webhookLeaseMs - webhookLeaseMarginMs && tookMs <= webhookLeaseMs + 60_000, `${tookMs} ms`)
    await setup.store.createPlant(toPlant({ id: 99n, name: 'n' }))
    await passes('it is sent', () => receiver.received.some((each) => plantIdOf(each) === '99'))
    clock.pass(5_000)
    assert.equal(receiver.received.filter((each) => plantIdOf(each) === '99').length, 1)
    isSilent = false
    void other[Symbol.asyncDispose]()
    await passes('the first sends again', async () => (await setup.find(id)).owner === owner)
    await setup.store.createPlant(toPlant({ id: 100n, name: 'n' }))
    await passes('it is sent', () => receiver.received.some((each) => plantIdOf(each) === '100'))
  })

  for (const often of ['', ' again']) {
    onSetup(
      `of a server that cannot renew its lease${often} sends nothing once the lease may be over`,
      async (setup) => {
        const { clock, passes } = setup
        await using receiver = await startReceiver()
        let isAway = false
        let writtenMs = 0
        const isCut = (): boolean => {
          if (isAway) return true
          writtenMs = clock.monotonicMs()
          // Others count from the write, which takes a while.
          clock.pass(1_000)
          isAway = often === ''
          return false
        }
        setup.start({ store: sharedOf(setup.store, isCut) })
        await setup.send(receiver)
        await setup.store.createPlant(toPlant({ id: 1n, name: 'n' }))
        await passes('it sends', () => receiver.received.length === 1)
        isAway = true
        const sendsMs = limits.webhookLeaseMs - limits.webhookLeaseMarginMs
        await passes('its lease may be over soon', () => clock.monotonicMs() - writtenMs > sendsMs)
        await setup.store.createPlant(toPlant({ id: 2n, name: 'n' }))
        const laterMs = clock.monotonicMs()
        await passes('some seconds have passed', () => clock.monotonicMs() - laterMs > 5_000)
        assert.equal(receiver.received.length, 1)
        isAway = false
        await passes('it sends again', () => receiver.received.length === 2)
      },
    )
  }
})

describe('a receiver that', { concurrency: true }, () => {
  const good = async (setup: Setup): Promise<Receiver & { readonly id: string }> => {
    const receiver = await startReceiver()
    return Object.assign(receiver, { id: await setup.send(receiver) })
  }

  const holds = (what: string, outcome: RegExp, misbehave: Parameters<typeof startOddReceiver>[0], url?: string) =>
    onSetup(`${what}: others notice nothing, connections are few, and a stop is quick`, async (setup) => {
      await using odd = await startOddReceiver(misbehave)
      await using other = await good(setup)
      const id = await setup.send({ url: url ?? odd.url })
      await createPlants(setup.store, 40)
      const isAccepted = (event: ServiceEvent): boolean => event.kind === 'webhookSent' && event.isAccepted
      await setup.passes('the other has accepted all', () => setup.events.filter(isAccepted).length === 40, 20)
      assert.equal(other.received.length, 40)
      await setup.passes('its answer is known', async () => (await setup.find(id)).progress.last !== undefined)
      assert.match((await setup.find(id)).progress.last?.outcome ?? '', outcome)
      assert.ok(odd.socketsMax <= limits.webhookInFlightMax, `${odd.socketsMax} connections`)
      const startMs = setup.clock.monotonicMs()
      const requests = odd.requests
      await setup.passes('an hour has passed', () => setup.clock.monotonicMs() - startMs > hour, 60_000)
      assert.ok(odd.requests - requests < 30, `${odd.requests - requests} requests in an hour`)
      // A paused webhook, too, is let go of at once.
      const { version, ...hook } = await setup.find(id)
      const paused = { reason: 'operator', atMs: 1 } as const
      if (hook.paused === undefined) await setup.store.replaceWebhook({ ...hook, paused }, version)
      await setup.store.createPlant(toPlant({ id: 1_000n, name: 'n' }))
      await setup.passes('the other has another', () => other.received.length === 41)
      const stopMs = performance.now()
      await setup[Symbol.asyncDispose]()
      await until('no connection is left', () => odd.sockets.size === 0)
      assertPrompt(stopMs, 1_000)
    })

  for (const [what, [outcome, misbehave]] of sampleOf(Object.entries(misbehaviours), inRing(2, 1)))
    holds(what, outcome, misbehave)
  holds('refuses connections', /ECONNREFUSED/, () => {}, 'http://127.0.0.1:9/')
  holds('has a name that is not known', /ENOTFOUND|EAI_AGAIN/, () => {}, 'https://receiver.invalid/')

  for (const [what, misbehave] of sampleOf(Object.entries(endlessAnswers), inRing(2, 1))) {
    onSetup(`${what} has accepted, and holds few connections`, async (setup) => {
      await using odd = await startOddReceiver(misbehave)
      await using other = await good(setup)
      const id = await setup.send(odd)
      await createPlants(setup.store, 60)
      const isAccepted = (event: ServiceEvent) =>
        event.kind === 'webhookSent' && event.webhook === id && event.isAccepted
      await setup.passes('all are accepted', () => setup.events.filter(isAccepted).length === 60)
      assert.equal(odd.requests, 60)
      assert.equal(other.received.length, 60)
      assert.ok(odd.socketsMax <= limits.webhookInFlightMax + 1, `${odd.socketsMax} connections`)
    })
  }

  onSetup('closes new connections is sent a change once for each pause', async (setup) => {
    await using odd = await startOddReceiver((socket) => socket.end())
    await setup.send(odd)
    await setup.store.createPlant(toPlant({ id: 1n, name: 'n' }))
    await setup.passes('it has failed', () => setup.events.some(({ kind }) => kind === 'webhookSent'))
    assert.equal(odd.requests, 1)
  })

  onSetup('sends a body without end is read up to a bound, not for 10 s', async (setup) => {
    await using odd = await startOddReceiver(endlessAnswers['sends a body without end'] as (socket: Socket) => void)
    await setup.store.createPlant(toPlant({ id: 1n, name: 'n' }))
    await setup.send(odd, { progress: beginAfter(undefined) })
    // No time passes.
    await until('it has accepted', () => setup.events.some((event) => event.kind === 'webhookSent' && event.isAccepted))
  })

  test('is one of many dead ones: all share a number of connections, and the living get everything', async () => {
    await using setup = await setUp()
    await using odd = await startOddReceiver(() => {})
    await using other = await good(setup)
    for (let count = 0; count < 30; count += 1) await setup.send(odd)
    const isHeld = async () => (await setup.store.listWebhooks()).every(({ owner }) => owner !== undefined)
    await setup.passes('all are held', isHeld)
    await createPlants(setup.store, 200)
    await setup.passes('the living has all', () => other.received.length === 200, 20)
    assert.ok(odd.socketsMax <= limits.webhookSocketsMax, `${odd.socketsMax} connections`)
  })
})

/** A file has one server. This one has several, as a database may; one of them may be unable to hold its webhooks. */
function sharedOf(store: Store, isSilent = (): boolean => false): Store {
  return new Proxy(store, {
    get: (own, name: keyof Store) => {
      if (name === 'isShared') return true
      if (name === 'replaceWebhook' && isSilent()) return () => Promise.resolve(false)
      const value = own[name] as unknown
      return typeof value === 'function' ? value.bind(own) : value
    },
  })
}

function createPlants(store: Store, count: number): Promise<unknown> {
  const plants = Array.from({ length: count }, (_, index) => toPlant({ id: BigInt(index), name: 'n' }))
  return Promise.all(plants.map((plant) => store.createPlant(plant)))
}

function hookAfter(url: string, after: string): Webhook {
  const hook = newWebhook(`hook_${randomBytes(6).toString('hex')}`)
  return { ...hook, url, kinds: changeKinds, secrets: [{ secret }], progress: beginAfter(after) }
}

function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

test('a server that has lost its lease does not send again what met a closed connection', async () => {
  let [mayStillSend, cuts] = [true, 0]
  let answerSlow = (): void => {}
  let slow: Promise<unknown> | undefined
  await using receiver = await startReceiver(async ({ id }, response) => {
    if (id === 'slow') {
      answerSlow = () => void response.writeHead(204).end()
      return
    }
    if (id !== 'cut') return void response.writeHead(204).end()
    cuts += 1
    mayStillSend = false
    // Then the other connection is open and free.
    answerSlow()
    await slow
    response.socket?.destroy()
  })
  const options = { userAgent: 'plantstore/test', clock: systemClock, limits }
  const sender = openSender({ ...options, mayStillSend: () => mayStillSend })
  const send = (id: string) => sender.post({ url: receiver.url, secrets: [{ secret }] }, { id, body: '{}' })
  // Opens two connections.
  await Promise.all(['1', '2'].map(send))
  slow = send('slow')
  await until('the first connection waits', () => receiver.received.some(({ id }) => id === 'slow'))
  assert.equal((await send('cut')).status, undefined)
  await sender.close()
  assert.equal(cuts, 1)
})

test('the name of a receiver that was not found is looked up again', async (context) => {
  const { lookup } = dns
  let lookUps = 0
  const find = async (...given: Parameters<typeof lookup>): Promise<unknown> => {
    if (given[0] !== 'receiver.test') return lookup(...given)
    lookUps += 1
    if (lookUps === 1) throw new Error('not found')
    return [{ address: '127.0.0.1', family: 4 }]
  }
  context.mock.method(dns, 'lookup', find)
  syncBuiltinESMExports()
  context.after(() => {
    context.mock.restoreAll()
    syncBuiltinESMExports()
  })
  await using receiver = await startReceiver()
  const url = receiver.url.replace('127.0.0.1', 'receiver.test')
  const sender = openSender({ userAgent: 'plantstore/test', clock: systemClock, limits, mayStillSend: () => true })
  const send = () => sender.post({ url, secrets: [{ secret }] }, { id: '1', body: '{}' })
  assert.equal((await send()).outcome, 'not found')
  assert.ok((await send()).isAccepted)
  await sender.close()
})
