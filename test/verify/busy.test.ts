// A server that is right, but too busy to say what it has: verify leaves the plants of others alone all the same.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { startPlantStore } from '../../src/embed/start.ts'
import { defaultFirstId } from '../../src/verify/ids.ts'
import { runHere } from '../support/program.ts'
import { exhaustive } from '../support/ring.ts'
import { startWrong } from './wrong-servers.ts'

describe('plantstore verify of a server that is busy', { concurrency: true }, () => {
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
    exhaustive.test(`${title} deletes nothing of others`, async () => {
      await using store = await startPlantStore({ plants: plants.slice(title === 'for a while after it' ? 1 : 0) })
      let reads = 0
      await using busy = await startWrong({ port: Number(new URL(store.url).port) }, async (received, forward) => {
        if (received.method === 'GET' && isBusy(++reads)) {
          const body = Buffer.from('{"error":50301,"message":"busy"}')
          return { status: 503, fields: ['content-type', 'application/json'], body }
        }
        return forward(received)
      })
      const before = await Array.fromAsync(store.client.listPlants({ limit: 1000 }))
      const { status } = await runHere(['verify', busy.url, '--token', store.token])
      assert.equal(status, 1)
      assert.deepEqual(await Array.fromAsync(store.client.listPlants({ limit: 1000 })), before)
    })
  }
})

describe('the JUnit report of plantstore verify', () => {
  test('replaces nothing but ordinary files, and says so before anything is sent', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plantstore-test-'))
    try {
      const link = join(folder, 'link')
      await symlink(join(folder, 'real.xml'), link)
      for (const path of [link, folder, '/dev/null']) {
        const args = ['verify', 'http://127.0.0.1:9', '--token', 't', '--junit', path]
        const { status, stderr } = await runHere(args)
        assert.equal(status, 1)
        assert.match(stderr, /^plantstore: .* (?:is not a regular file|is a folder).*\n$/)
      }
      await assert.rejects(readFile(join(folder, 'real.xml')), { code: 'ENOENT' })
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
