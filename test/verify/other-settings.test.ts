// Right servers that are not as they are by default: that limit requests or origins, or know JWTs.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { errorNumbers } from '../../src/domain/errors.ts'
import { startPlantStore } from '../../src/embed/start.ts'
import type { VerifyReport } from '../../src/verify/results.ts'
import { rowsOf } from '../../src/verify/verify.ts'
import { makeFolder } from '../support/folder.ts'
import { IdentityProvider } from '../support/identity-provider.ts'
import { type RunningServer, runHere, startServer } from '../support/program.ts'
import { exhaustive } from '../support/ring.ts'
import { type Answered, type Behaviour, only, replaceField, startWrong } from './wrong-servers.ts'

const specified = ['--level', 'specified']

/** A refusal for the time being. */
function refusal(status: number, retryAfter: string, error = 0): Answered {
  const fields = ['content-type', 'application/json', 'retry-after', retryAfter]
  return { status, fields, body: Buffer.from(JSON.stringify({ error, message: 'busy' })) }
}

describe('plantstore verify of a server with a rate limit', { concurrency: true }, () => {
  exhaustive.test('waits as it is told, sends the same again, and leaves nothing', async () => {
    await using folder = await makeFolder()
    await using server = await startServer(folder.file('plants.db'), { args: ['--rate-limit', '320/4s'] })
    let refused = 0
    await using counting = await startWrong(server, async (received, forward) => {
      const answered = await forward(received)
      if (answered.status === 429) refused += 1
      return answered
    })
    const { status, stdout } = await runHere(['verify', counting.url, '--token', server.token, ...specified])
    assert.equal(status, 0, stdout)
    assert.ok(refused > 0)
  })

  exhaustive.test('waits for creates, and for deletes also when they may have been done', async () => {
    await using store = await startPlantStore()
    let creates = 0
    let deletes = 0
    await using busy = await startWrong({ port: Number(new URL(store.url).port) }, async (received, forward) => {
      if (received.method === 'POST' && ++creates % 20 === 1) return refusal(429, '1')
      if (received.method === 'DELETE' && ++deletes % 4 === 1) {
        if (deletes > 4) await forward(received)
        return refusal(503, '1')
      }
      return forward(received)
    })
    const { status, stdout } = await runHere(['verify', busy.url, '--token', store.token, ...specified])
    assert.equal(status, 0, stdout)
    assert.deepEqual(await Array.fromAsync(store.client.listPlants()), [])
  })

  test('sends no create again that may have been done', async () => {
    await using store = await startPlantStore()
    const bodies: string[] = []
    const isAway: Behaviour = only(
      ({ method, body }) => method === 'POST' && body.includes('aroid'),
      async ({ body }) => {
        bodies.push(body.toString())
        return refusal(503, '1', errorNumbers.storeUnavailable)
      },
    )
    await using away = await startWrong({ port: Number(new URL(store.url).port) }, isAway)
    const { status, stdout } = await runHere(['verify', away.url, '--token', store.token, ...specified])
    assert.equal(status, 1)
    assert.match(stdout, /^ {2}wrong +the status is 503, not 200$/m)
    assert.equal(bodies.length, 1)
  })

  for (const [what, retryAfter, why] of [
    ['that refuses for ever', '7', 'asks to wait another 7 s, past the 12 s that one request may wait'],
    ['that asks for too long a wait', '3600', 'asks to wait another 3600 s, past the 12 s that one request may wait'],
  ] as const) {
    exhaustive.test(`${what} gives up after such waits, and says so`, async () => {
      await using store = await startPlantStore()
      let creates = 0
      let refusals = 0
      await using busy = await startWrong({ port: Number(new URL(store.url).port) }, async (received, forward) => {
        if (received.method === 'POST') creates += 1
        if (creates <= 5) return forward(received)
        refusals += 1
        return refusal(429, retryAfter)
      })
      const args = ['verify', busy.url, '--token', store.token, ...specified, '--timeout', '2']
      const { status, stdout, stderr } = await runHere(args)
      assert.equal(status, 1)
      assert.equal(stderr, '')
      assert.ok(
        stdout.includes(`  wrong     the server answers 429 and ${why}; increase --timeout to wait longer`),
        stdout,
      )
      assert.match(stdout, /^ {2}came +429$/m)
      assert.match(stdout, /^\d+ skipped: the server gave nothing but 429 in 3 consecutive rows$/m)
      assert.match(stdout, /^Left on the server, because it could not be deleted:$/m)
      assert.ok(refusals < 100, `${refusals}`)
    })
  }

  test('waits once more for the deletes, when it has given up its rows', async () => {
    await using store = await startPlantStore()
    let creates = 0
    let deletes = 0
    await using busy = await startWrong({ port: Number(new URL(store.url).port) }, async (received, forward) => {
      if (received.method === 'POST') creates += 1
      if (creates <= 5) return forward(received)
      if (received.method !== 'DELETE') return refusal(429, '3600')
      deletes += 1
      return deletes <= 4 ? refusal(429, '1') : forward(received)
    })
    const { status, stdout } = await runHere(['verify', busy.url, '--token', store.token, ...specified])
    assert.equal(status, 1)
    assert.doesNotMatch(stdout, /^Left on the server/m)
    assert.deepEqual(await Array.fromAsync(store.client.listPlants()), [])
  })
})

exhaustive.describe('plantstore verify of a server with --cors-origin', { concurrency: true }, () => {
  const run = async (url: string, token: string): Promise<void> => {
    const { status, stdout } = await runHere(['verify', url, '--token', token, '--json'])
    assert.equal(status, 0, stdout)
    const { rows } = JSON.parse(stdout) as VerifyReport
    const skipped = rows.filter((row) => row.skipped?.includes('--cors-origin'))
    assert.equal(skipped.length, rowsOf().filter(({ subject }) => subject === 'CORS').length)
  }

  for (const origins of ['none', 'https://plants.example,https://app.example']) {
    test(`${origins} skips the rows of other origins`, async () => {
      await using folder = await makeFolder()
      await using server = await startServer(folder.file('plants.db'), { args: ['--cors-origin', origins] })
      await run(server.url, server.token)
    })
  }

  test('that a proxy in front restricts to one origin skips the rows of others', async () => {
    await using store = await startPlantStore()
    await using proxy = await startWrong({ port: Number(new URL(store.url).port) }, async (received, forward) => {
      const answered = await forward(received)
      const fields = replaceField(answered.fields, 'access-control-allow-origin', 'https://app.example')
      return { ...answered, fields }
    })
    await run(proxy.url, store.token)
  })
})

describe('plantstore verify with a JWT', () => {
  exhaustive.test('changes a character that counts', async () => {
    await using provider = await IdentityProvider.start('ES256')
    await using folder = await makeFolder()
    await using server: RunningServer = await startServer(folder.file('plants.db'), { args: provider.flags })
    // Of the last character of the signature four bits count for nothing: after a w, four other letters mean the same.
    let token = ''
    while (!token.endsWith('w')) token = await provider.sign()
    const { status, stdout } = await runHere(['verify', server.url, '--token', token])
    assert.equal(status, 0, stdout)
  })
})
