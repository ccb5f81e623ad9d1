// Right servers that are not as they are by default: that are busy, limit requests or origins, or know JWTs.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { errorNumbers } from '../../src/domain/errors.ts'
import { startPlantStore } from '../../src/embed/start.ts'
import { defaultFirstId } from '../../verify/ids.ts'
import type { NewPlant } from '../../verify/plant.ts'
import { rowsOf, verify } from '../../verify/verify.ts'
import { IdentityProvider } from '../support/identity-provider.ts'
import { runHere } from '../support/program.ts'
import { exhaustive } from '../support/ring.ts'
import { startOwnServer } from '../support/service.ts'
import { type Answered, type Behaviour, only, replaceField, startWrong } from './wrong-servers.ts'

const specified = ['--level', 'specified']

/** A refusal for the time being. */
function refusal(status: number, retryAfter: string, error = 0): Answered {
  const fields = ['content-type', 'application/json', 'retry-after', retryAfter]
  return { status, fields, body: Buffer.from(JSON.stringify({ error, message: 'busy' })) }
}

/** Runs the command on a wrong server in front of an embedded one, and gives the plants that are there then, too. */
async function verifyOf(behave: Behaviour, flags: readonly string[] = specified, plants: readonly NewPlant[] = []) {
  await using store = await startPlantStore({ plants })
  await using wrong = await startWrong({ port: Number(new URL(store.url).port) }, behave)
  const finished = await runHere(['verify', wrong.url, '--token', store.token, ...flags])
  return { ...finished, left: await Array.fromAsync(store.client.listPlants({ limit: 1000 })) }
}

exhaustive.test('plantstore verify of a server that has Node.js parse every request finds nothing', async () => {
  await using own = await startOwnServer({ args: ['--parser', 'node'] })
  const { status, stdout } = await runHere(['verify', own.server.url, '--token', own.server.token])
  assert.equal(status, 0, stdout)
})

describe('plantstore verify of a server with a rate limit', { concurrency: true }, () => {
  exhaustive.test('waits for creates, and for deletes also when they may have been done', async () => {
    let creates = 0
    let deletes = 0
    const { status, stdout, left } = await verifyOf(async (received, forward) => {
      if (received.method === 'POST' && ++creates % 20 === 1) return refusal(429, '1')
      if (received.method === 'DELETE' && ++deletes % 4 === 1) {
        if (deletes > 4) await forward(received)
        return refusal(503, '1')
      }
      return forward(received)
    })
    assert.equal(status, 0, stdout)
    assert.deepEqual(left, [])
  })

  test('sends no create again that may have been done', async () => {
    const bodies: string[] = []
    const isAway: Behaviour = only(
      ({ method, body }) => method === 'POST' && body.includes('aroid'),
      async ({ body }) => {
        bodies.push(body.toString())
        return refusal(503, '1', errorNumbers.storeUnavailable)
      },
    )
    const { status, stdout } = await verifyOf(isAway)
    assert.equal(status, 1)
    assert.match(stdout, /^ {2}wrong +the status is 503, not 200$/m)
    assert.equal(bodies.length, 1)
  })

  exhaustive.test('that refuses for ever gives up after a wait, and says so', async () => {
    let creates = 0
    let refusals = 0
    const refuses: Behaviour = async (received, forward) => {
      if (received.method === 'POST') creates += 1
      if (creates <= 5) return forward(received)
      refusals += 1
      return refusal(429, '7')
    }
    const { status, stdout, stderr } = await verifyOf(refuses, [...specified, '--timeout', '2'])
    assert.deepEqual([status, stderr], [1, ''])
    const why = 'asks to wait another 7 s, past the 12 s that one request may wait; increase --timeout'
    assert.ok(stdout.includes(`  wrong     the server answers 429 and ${why} to wait longer`), stdout)
    assert.match(stdout, /^ {2}came +429$/m)
    assert.match(stdout, /^\d+ skipped: the server gave nothing but 429 in 3 consecutive rows$/m)
    assert.match(stdout, /^Left on the server, because it could not be deleted:$/m)
    assert.ok(refusals < 150, `${refusals}`)
  })

  test('waits again after a wait in vain, once another answer has come', async () => {
    let [reads, creates] = [0, 0]
    const { status, stdout } = await verifyOf(async (received, forward) => {
      if (received.method === 'GET' && ++reads === 2) return refusal(429, '3600')
      return received.method === 'POST' && ++creates === 2 ? refusal(429, '1') : forward(received)
    })
    assert.equal(status, 0, stdout)
  })

  test('waits once more for the deletes, when it has given up its rows', async () => {
    let creates = 0
    let deletes = 0
    const { status, stdout, left } = await verifyOf(async (received, forward) => {
      if (received.method === 'POST') creates += 1
      if (creates <= 5) return forward(received)
      if (received.method !== 'DELETE') return refusal(429, '3600')
      deletes += 1
      return deletes <= 4 ? refusal(429, '1') : forward(received)
    })
    assert.equal(status, 1)
    assert.doesNotMatch(stdout, /^Left on the server/m)
    assert.deepEqual(left, [])
  })
})

/** Says not when to try again. */
const unavailable: Answered = { ...refusal(503, '', errorNumbers.overloaded), fields: [] }

exhaustive.describe('plantstore verify of a server that is too busy to say what it has', { concurrency: true }, () => {
  /** Somebody's plants at some of the ids that rows have, so that of several ids in one row some are free. */
  const plants = Array.from({ length: 500 }, (_, index) => index)
    .filter((index) => (index * 7_919) % 10 < 3)
    .map((index) => ({ id: defaultFirstId + BigInt(1_024 * index), name: 'of somebody' }))

  for (const [title, isBusy] of [
    ['at the first look', (reads: number) => reads <= 2],
    ['for a while after it', (reads: number) => reads > 1 && reads < 700],
    ['whenever it is read', () => true],
    ['never', () => false],
  ] as const) {
    test(`${title} deletes nothing of others`, async () => {
      const there = plants.slice(title === 'for a while after it' ? 1 : 0)
      let reads = 0
      const isAway: Behaviour = async (received, forward) =>
        received.method === 'GET' && isBusy(++reads) ? unavailable : forward(received)
      const { status, left } = await verifyOf(isAway, [], there)
      assert.equal(status, 1)
      assert.deepEqual(left, there)
    })
  }
})

exhaustive.describe('plantstore verify of a server with --cors-origin', { concurrency: true }, () => {
  const run = async (url: string, token: string): Promise<void> => {
    const subjects = ['CORS', 'answers', 'paths and methods', 'credentials', 'the document itself']
    const { rows, counts } = await verify({ url, token, only: ({ subject }) => subjects.includes(subject) })
    assert.equal(counts.failed, 0)
    const skipped = rows.filter((row) => row.skipped?.includes('--cors-origin'))
    assert.equal(skipped.length, rowsOf().filter(({ subject }) => subject === 'CORS').length + 1)
  }

  for (const origins of ['none', 'https://plants.example,https://app.example']) {
    test(`${origins} skips the rows of other origins`, async () => {
      await using own = await startOwnServer({ args: ['--cors-origin', origins] })
      await run(own.server.url, own.server.token)
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

exhaustive.test('plantstore verify with a JWT changes a character that counts', async () => {
  await using provider = await IdentityProvider.start()
  await using own = await startOwnServer({ args: provider.flags })
  // Of the last character of the signature four bits count for nothing: after a w, four other letters mean the same.
  let token = ''
  while (!token.endsWith('w')) token = await provider.sign()
  const { counts } = await verify({ url: own.server.url, token, only: ({ subject }) => subject === 'credentials' })
  assert.equal(counts.failed, 0)
})
