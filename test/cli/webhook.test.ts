// `plantstore webhook`: webhooks managed beside a running server.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Webhook as Verifier } from 'standardwebhooks'
import { Client } from '../support/client.ts'
import { describeOnEngines } from '../support/engines.ts'
import { makeFolder } from '../support/folder.ts'
import { type Finished, runHere, startServer } from '../support/program.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/time.ts'

const quick = { webhookPollMs: 10, webhookRefreshMs: 30, webhookSaveMs: 20, webhookRetryMs: 50 }

describeOnEngines('plantstore webhook', async (engine) => {
  test('adds, shows, tests, pauses, resumes, rotates and removes a webhook while a server sends it', async () => {
    await using place = await engine.makePlace()
    await using server = await startServer(place.store, { limits: quick })
    await using receiver = await startReceiver()
    const client = await Client.connect(server)
    const run = (...args: string[]): Promise<Finished> => runHere(['webhook', ...args, '--store', place.store])

    const added = await run('add', receiver.url, '--on', 'deleted, created', '--name', 'my hook')
    assert.match(added.stdout, /^whsec_[0-9A-Za-z+/]{43}=\n$/)
    const [id = ''] = /hook_[0-9A-Za-z]{12}/.exec(added.stderr) ?? []
    assert.match(added.stderr, /\(my hook\) sends what is created or deleted to http.* shown only once/)
    await client.create(1n, 'Ficus')
    await until('it is sent', () => receiver.received.length === 1)
    const [{ body, headers }] = receiver.received as [(typeof receiver.received)[0]]
    assert.deepEqual(new Verifier(added.stdout.trim()).verify(body, headers as Record<string, string>), {
      id: 1,
      name: 'Ficus',
    })
    await client.request({ method: 'PUT', target: '/plants/1', body: '{"name":"Monstera"}' })

    const tested = await run('test', id)
    assert.deepEqual([tested.status, tested.stderr], [0, `${receiver.url} accepted the test: 204\n`])
    assert.match(receiver.received[1]?.id ?? '', /^test_/)

    const position = receiver.received[0]?.id.split('_')[1] ?? ''
    const shown = async () => JSON.parse((await run('show', id, '--json')).stdout)
    await until('all is delivered', async () => (await shown()).secondsBehind === 0)
    const { created: _, position: __, lastAnswer, ...rest } = await shown()
    assert.deepEqual(rest, {
      id,
      name: 'my hook',
      url: receiver.url,
      on: ['created', 'deleted'],
      state: 'active',
      blockedPlants: [],
      secondsBehind: 0,
      secrets: ['valid'],
    })
    assert.deepEqual([lastAnswer.outcome, lastAnswer.isAccepted], ['204', true])
    assert.match(
      (await run('list')).stdout,
      /^ID .*\nhook_\w+ {2}active {2}0 s {5}204 {2,}created,deleted {2}my hook {2}http.*\n$/,
    )

    await run('pause', id)
    await client.request({ method: 'DELETE', target: '/plants/1' })
    await until('the server knows', async () => (await shown()).state === 'paused: an operator paused it')
    assert.equal((await run('resume', id)).status, 0)
    await until('the delete is sent', () => receiver.received.length === 3)
    assert.match(receiver.received[2]?.id ?? '', /^deleted_/)

    const rotated = await run('rotate', id)
    assert.match(rotated.stderr, /signs with this secret from now on, and with the old one until 20/)
    assert.equal((await run('send', id, '--after', position)).status, 0)
    await until('the delete is sent again', () => receiver.received.length === 4)
    const again = receiver.received[3] as (typeof receiver.received)[0]
    assert.equal(again.id, receiver.received[2]?.id)
    for (const secret of [added.stdout, rotated.stdout]) {
      new Verifier(secret.trim()).verify(again.body, again.headers as Record<string, string>)
    }
    await run('send', id, '--after', 'oldest')
    await until('all is sent again', () => receiver.received.length === 6)

    assert.equal((await run('remove', id)).status, 0)
    assert.equal((await run('list', '--json')).stdout, '[]\n')
    assert.equal((await run('remove', id)).status, 1)
  })
})

describe('plantstore webhook', { concurrency: true }, () => {
  for (const [what, url] of [
    ['http to another machine', 'http://plants.example/'],
    ['http to a name that only looks local', 'http://127.0.0.1.example/'],
    ['a user', 'https://me:secret@plants.example/'],
    ['a fragment', 'https://plants.example/#a'],
    ['another scheme', 'ftp://plants.example/'],
    ['no URL', 'plants.example'],
    ['too long a URL', `https://plants.example/${'a'.repeat(2_000)}`],
  ] as const) {
    test(`refuses ${what}`, async () => {
      const { status, stderr } = await runHere(['webhook', 'add', url, '--store', 'none.db'])
      assert.equal(status, 2)
      assert.match(stderr, /must be an https URL|must have at most 2000 characters/)
    })
  }

  test('says what is wrong with a command', async () => {
    await using folder = await makeFolder()
    const store = folder.file('plants.db')
    await runHere(['token', 'create', '--name', 't', '--store', store])
    const run = (...args: string[]): Promise<Finished> => runHere(['webhook', ...args, '--store', store])
    for (const args of [
      ['show'],
      ['rotate'],
      ['pause'],
      ['resume'],
      ['test'],
      ['remove'],
      ['send', '--after', 'now'],
    ]) {
      const [command = '', ...more] = args
      const { status, stderr } = await run(command, 'hook_x', ...more)
      assert.deepEqual(
        [status, stderr],
        [1, 'plantstore: there is no webhook hook_x; `plantstore webhook list` shows them\n'],
      )
    }
    assert.equal((await run('add', 'https://plants.example', '--on', 'eaten')).status, 2)
    const { stderr } = await run('add', 'https://plants.example/hook')
    const [id = ''] = /hook_[0-9A-Za-z]{12}/.exec(stderr) ?? []
    const gone = await run('send', id, '--after', '7-mh3x2k1a')
    assert.match(gone.stderr, /does not have this position any more; use oldest, or now/)
    const missing = await runHere(['webhook', 'list', '--store', folder.file('missing.db')])
    assert.match(missing.stderr, /there is no store/)
  })
})

describe('examples/webhook/receiver.js', () => {
  test('shows each change once, and refuses what is not signed', async () => {
    const file = fileURLToPath(new URL('../../examples/webhook/receiver.js', import.meta.url))
    const environment = { ...process.env, PORT: '0' }
    assert.equal(spawnSync(process.execPath, [file], { env: { ...environment, WEBHOOK_SECRET: '' } }).status, 1)
    const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
    const receiver = spawn(process.execPath, [file], { env: { ...environment, WEBHOOK_SECRET: secret } })
    let output = ''
    receiver.stdout.setEncoding('utf8').on('data', (text) => {
      output += text
    })
    await until('it listens', () => output.includes('receiving at'))
    const [url = ''] = /http:\S+/.exec(output) ?? []
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
    assert.equal(output.split('\n').filter((line) => line === `created ${body}`).length, 1)
  })
})
