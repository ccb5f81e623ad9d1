// `plantstore webhook`: webhooks managed beside a running server.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Webhook as Verifier } from 'standardwebhooks'
import { toIso } from '../../src/domain/shown.ts'
import { newWebhook } from '../store/suite.ts'
import { type Received, startReceiver } from '../support/answering.ts'
import { describeOnEngines } from '../support/engines.ts'
import { makeFolder } from '../support/folder.ts'
import { type Finished, outputOf, runHere } from '../support/program.ts'
import { testOn } from '../support/ring.ts'
import { serveSuite } from '../support/service.ts'
import { openTestStore } from '../support/store.ts'
import { until } from '../support/time.ts'

const quick = { webhookPollMs: 10, webhookRefreshMs: 30, webhookSaveMs: 20, webhookRetryMs: 50 }

describeOnEngines('plantstore webhook beside a server', async (engine) => {
  const stack = new AsyncDisposableStack()
  // Before the place is removed.
  after(() => stack.disposeAsync())
  const { place, client } = await serveSuite(engine, quick)
  const store = stack.use(await openTestStore(place.store, { exclusive: false }))
  let id = 0n

  const run = (...args: string[]): Promise<Finished> => runHere(['webhook', ...args, '--store', place.store])

  /** A webhook for the changes from now on. */
  async function addHook(...args: string[]) {
    const receiver = await startReceiver()
    const added = await run('add', receiver.url, ...args)
    const [id = ''] = /hook_[0-9A-Za-z]{12}/.exec(added.stderr) ?? []
    return {
      id,
      added,
      receiver,
      show: async (): Promise<Record<string, unknown>> => JSON.parse((await run('show', id, '--json')).stdout),
      /** Resolves when so many requests have come; gives the last one. */
      receive: async (count: number) => {
        await until(`request ${count}`, () => receiver.received.length >= count)
        assert.equal(receiver.received.length, count)
        return receiver.received[count - 1] as Received
      },
      [Symbol.asyncDispose]: async () => {
        await store.removeWebhook(id)
        await receiver[Symbol.asyncDispose]()
      },
    }
  }

  const onHook = testOn(() => addHook())
  const createPlant = (): Promise<unknown> => client.create(++id, 'Ficus')
  const deletePlant = (): Promise<unknown> => client.request({ method: 'DELETE', target: `/plants/${id}` })

  test('add prints only the secret, with which the server signs the chosen changes', async () => {
    await using hook = await addHook('--on', 'deleted, created', '--name', 'my hook')
    assert.match(hook.added.stdout, /^whsec_[0-9A-Za-z+/]{43}=\n$/)
    assert.match(hook.added.stderr, /\(my hook\) sends what is created or deleted to http.* shown only once/)
    await createPlant()
    const { body, headers } = await hook.receive(1)
    const verified = new Verifier(hook.added.stdout.trim()).verify(body, headers as Record<string, string>)
    assert.deepEqual(verified, { id: Number(id), name: 'Ficus' })
    await client.request({ method: 'PUT', target: `/plants/${id}`, body: '{"name":"Monstera"}' })
    await deletePlant()
    assert.match((await hook.receive(2)).id, /^deleted_/)
  })

  test('show and list say how far a webhook is', async () => {
    await using hook = await addHook('--on', 'deleted,created', '--name', 'my hook')
    await createPlant()
    await until('the answer is stored', async () => (await store.listWebhooks())[0]?.progress.last !== undefined)
    const { created: _, position: __, lastAnswer, ...rest } = await hook.show()
    assert.deepEqual(rest, {
      id: hook.id,
      name: 'my hook',
      url: hook.receiver.url,
      on: ['created', 'deleted'],
      state: 'active',
      blockedPlants: [],
      secondsBehind: 0,
      secrets: ['valid'],
    })
    const { outcome, isAccepted } = lastAnswer as Record<string, unknown>
    assert.deepEqual([outcome, isAccepted], ['204', true])
    const message = /^ID .*\nhook_\w+ {2}active {2}0 s {5}204 {2,}created,deleted {2}my hook {2}http.*\n$/
    assert.match((await run('list')).stdout, message)
  })

  onHook('test sends a test, and prints the answer', async (hook) => {
    const { status, stderr } = await run('test', hook.id)
    assert.deepEqual([status, stderr], [0, `${hook.receiver.url} accepted the test: 204\n`])
    assert.match((await hook.receive(1)).id, /^test_/)
  })

  onHook('pause keeps the changes, and resume sends them', async (hook) => {
    await run('pause', hook.id)
    assert.equal((await hook.show())['state'], 'paused: an operator paused it')
    await using other = await addHook()
    await createPlant()
    // The server has read the webhooks again: it knows both that this one is there and that the other is paused.
    await other.receive(1)
    const { length } = hook.receiver.received
    await createPlant()
    await other.receive(2)
    assert.equal(hook.receiver.received.length, length)
    assert.equal((await run('resume', hook.id)).status, 0)
    await hook.receive(2)
  })

  onHook('rotate lets both secrets sign', async (hook) => {
    const rotated = await run('rotate', hook.id)
    assert.match(rotated.stderr, /signs with this secret from now on, and with the old one until 20/)
    await until('both sign', async () => {
      await createPlant()
      return String(hook.receiver.received.at(-1)?.headers['webhook-signature']).includes(' ')
    })
    const { body, headers } = hook.receiver.received.at(-1) as Received
    for (const secret of [hook.added.stdout, rotated.stdout]) {
      new Verifier(secret.trim()).verify(body, headers as Record<string, string>)
    }
  })

  onHook('send sends all changes after a position again, with their ids', async (hook) => {
    await createPlant()
    const created = await hook.receive(1)
    await deletePlant()
    const deleted = await hook.receive(2)
    assert.equal((await run('send', hook.id, '--after', created.id.split('_')[1] ?? '')).status, 0)
    assert.equal((await hook.receive(3)).id, deleted.id)
    await run('send', hook.id, '--after', 'oldest')
    await until('all is sent again', () => hook.receiver.received.filter((each) => each.id === deleted.id).length === 3)
  })

  onHook('remove ends it', async (hook) => {
    assert.equal((await run('remove', hook.id)).status, 0)
    assert.equal((await run('list', '--json')).stdout, '[]\n')
    assert.equal((await run('remove', hook.id)).status, 1)
  })
})

describe('plantstore webhook on a store', async () => {
  const folder = await makeFolder()
  after(() => folder[Symbol.asyncDispose]())
  const store = folder.file('plants.db')
  const run = (...args: string[]): Promise<Finished> => runHere(['webhook', ...args, '--store', store])
  await runHere(['token', 'create', '--name', 't', '--store', store])

  for (const command of ['show', 'rotate', 'pause', 'resume', 'test', 'remove', 'send']) {
    test(`${command} says that there is no such webhook`, async () => {
      const { status, stderr } = await run(command, 'hook_x', ...(command === 'send' ? ['--after', 'now'] : []))
      assert.deepEqual([status, /^plantstore: there is no webhook hook_x; [^\n]*\n$/.test(stderr)], [1, true])
    })
  }

  test('resume forgets what has failed, so that the webhook is not paused again at once', async () => {
    await using opened = await openTestStore(store, { exclusive: false })
    const { next: after } = await opened.listChanges({ after: 'now', kind: undefined, limit: 1 })
    const blocked = [{ plantId: '1', after, until: after, atMs: 1, tries: 28 }]
    const progress = { after, blocked, failures: 29 }
    const hook = newWebhook('hook_paused')
    await opened.addWebhook({ ...hook, progress, paused: { reason: 'failing', atMs: 1 } })
    assert.equal((await run('resume', hook.id)).status, 0)
    const resumed = (await opened.listWebhooks()).find(({ id }) => id === hook.id)
    assert.deepEqual(resumed?.progress, { ...progress, blocked: [{ ...blocked[0], tries: 0 }], failures: 0 })
    assert.equal(resumed?.paused, undefined)
  })

  test('a damaged webhook is listed, and can only be removed', async () => {
    await using opened = await openTestStore(store, { exclusive: false })
    const hook = { ...newWebhook('hook_damaged'), url: 'nowhere' }
    await opened.addWebhook(hook)
    const advice = 'plantstore: webhook hook_damaged is damaged; run: plantstore webhook remove hook_damaged\n'
    for (const command of ['show', 'resume', 'test']) {
      assert.deepEqual(await run(command, hook.id), { status: 1, stdout: '', stderr: advice })
    }
    assert.match((await run('list')).stdout, /^hook_damaged +paused: its row is damaged; remove it .* \(damaged\)$/m)
    assert.equal((await run('remove', hook.id)).status, 0)
  })

  test('rotate refuses an 11th secret that signs, and prints none', async () => {
    await using opened = await openTestStore(store, { exclusive: false })
    const endsAtMs = Date.now() + 3_600_000
    const secrets = Array.from({ length: 9 }, () => ({ secret: 's', endsAtMs }))
    const hook = newWebhook('hook_rotated')
    const ended = { secret: 'ended', endsAtMs: 1 }
    await opened.addWebhook({ ...hook, secrets: [...secrets, ended] })
    assert.equal((await run('rotate', hook.id)).status, 0)
    const { status, stdout, stderr } = await run('rotate', hook.id)
    assert.deepEqual([status, stdout], [1, ''])
    const ends = toIso(endsAtMs)
    assert.equal(stderr, `plantstore: webhook hook_rotated has 10 secrets that still sign; one ends at ${ends}\n`)
  })

  test('send refuses a position that is gone', async () => {
    const { stderr } = await run('add', 'https://plants.example/hook')
    const [id = ''] = /hook_[0-9A-Za-z]{12}/.exec(stderr) ?? []
    const gone = await run('send', id, '--after', '7-mh3x2k1a')
    assert.match(gone.stderr, /does not have this position; use oldest, or now/)
  })
})

test('examples/webhook/receiver.js shows each change once, and rejects unsigned requests', async () => {
  const file = fileURLToPath(new URL('../../examples/webhook/receiver.js', import.meta.url))
  const environment = { ...process.env, PORT: '0' }
  assert.equal(spawnSync(process.execPath, [file], { env: { ...environment, WEBHOOK_SECRET: '' } }).status, 1)
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
  const receiver = spawn(process.execPath, [file], { env: { ...environment, WEBHOOK_SECRET: secret } })
  const output = outputOf({ stdout: receiver.stdout, stderr: null })
  await until('it listens', () => output().includes('receiving at'))
  const [url = ''] = /http:\S+/.exec(output()) ?? []
  const body = '{"id":9223372036854775807,"name":"Ficus"}'
  const sign = (id: string, at: Date): Record<string, string> => ({
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': `v1,AAAA ${new Verifier(secret).sign(id, at, body)}`,
  })
  const send = async (headers: Record<string, string>, text = body): Promise<number> =>
    (await fetch(url, { method: 'POST', headers, body: text })).status
  const good = sign('created_1-a_hook_x', new Date())
  assert.equal(await send(good), 204)
  assert.equal(await send(good), 204)
  assert.equal(await send(good, body.replace('F', 'f')), 401)
  assert.equal(await send({ ...good, 'webhook-id': 'deleted_1-a_hook_x' }), 401)
  assert.equal(await send(sign('created_1-a_hook_x', new Date(Date.now() - 600_000))), 401)
  assert.equal(await send({}), 401)
  receiver.kill()
  await once(receiver, 'close')
  assert.equal(output().split(`\ncreated ${body}\n`).length, 2)
})
