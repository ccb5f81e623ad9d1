// A server is killed with SIGKILL in the middle of a burst: everything it acknowledged has to be there afterwards.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Client } from '../support/client.ts'
import { makeFolder } from '../support/folder.ts'
import { readHouseplants } from '../support/houseplants.ts'
import { startServer } from '../support/program.ts'
import { type Acknowledged, burstAndKill, findLost } from './burst.ts'

const rounds = 10
const controlRoundsMax = 10
const earlyAck = fileURLToPath(new URL('early-ack.ts', import.meta.url))

describe('kill -9', () => {
  test(`${rounds} kills in the middle of bursts lose no acknowledged plant`, async (context) => {
    await using folder = await makeFolder()
    const path = folder.file('plants.db')
    const all: Acknowledged = new Map()
    let token = ''
    for (let round = 0; round < rounds; round += 1) {
      await using server = await startServer(path)
      if (round === 0) {
        token = server.token
        for (const { id, ...plant } of await createHouseplants(await Client.connect(server))) all.set(id, plant)
      }
      const acknowledged = await burstAndKill(server, token, round)
      assert.ok(acknowledged.size > 0, 'the burst came before the kill')
      assert.deepEqual(await findLost(path, acknowledged), [], `round ${round}`)
      for (const [id, plant] of acknowledged) all.set(id, plant)
    }
    assert.deepEqual(await findLost(path, all), [])
    assert.equal(integrityOf(path), 'ok')
    context.diagnostic(`${all.size} plants acknowledged in ${rounds} rounds, 0 lost`)
  })

  test('control: a server that acknowledges before the commit is caught', async (context) => {
    await using folder = await makeFolder()
    const path = folder.file('plants.db')
    let token = ''
    for (let round = 0; round < controlRoundsMax; round += 1) {
      await using server = await startServer(path, { entry: earlyAck })
      token ||= server.token
      const lost = await findLost(path, await burstAndKill(server, token, round))
      if (lost.length === 0) continue
      context.diagnostic(`${lost.length} acknowledged plants were lost in round ${round}`)
      return
    }
    assert.fail(`${controlRoundsMax} rounds lost nothing: this test would not notice a broken promise`)
  })
})

async function createHouseplants(client: Client) {
  await using connection = await client.open()
  const houseplants = await readHouseplants()
  for (const { line } of houseplants) assert.equal((await connection.request({ body: line })).status, 200)
  return houseplants.map(({ plant }) => plant)
}

function integrityOf(path: string): unknown {
  const database = new DatabaseSync(path)
  const [row] = database.prepare('PRAGMA integrity_check').all()
  database.close()
  return row?.['integrity_check']
}
