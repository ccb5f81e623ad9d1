// Kills a server with SIGKILL in the middle of bursts, and looks for everything that it had acknowledged.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { decodeJson } from '../../src/json/decode.ts'
import type { NewPlant } from '../../verify/plant.ts'
import { Client } from '../support/client.ts'
import { makeFolder } from '../support/folder.ts'
import { startServer } from '../support/program.ts'
import { type Acknowledged, burstAndKill, findLost } from './burst.ts'

export interface KillReport {
  readonly rounds: number
  readonly acknowledged: number
  readonly lost: number
}

const controlRoundsMax = 10
const earlyAck = fileURLToPath(new URL('early-ack.ts', import.meta.url))

/**
 * Kills a server on one SQLite file so many times. Throws AssertionError when the file is not whole in the end.
 *
 * @param onRound is told of each kill how many there were, and how many plants were acknowledged so far.
 */
export async function killRounds(
  rounds: number,
  onRound: (round: number, acknowledged: number) => void = () => {},
): Promise<KillReport> {
  await using folder = await makeFolder()
  const path = folder.file('plants.db')
  const all: Acknowledged = new Map()
  const lost = new Set<bigint>()
  let token = ''
  for (let round = 0; round < rounds; round += 1) {
    await using server = await startServer(path)
    if (round === 0) {
      token = server.token
      for (const { id, ...plant } of await createPlantsOfTheWorld(await Client.connect(server))) all.set(id, plant)
    }
    const acknowledged = await burstAndKill(server, token, round)
    assert.ok(acknowledged.size > 0, 'the burst came before the kill')
    for (const id of await findLost(path, acknowledged)) lost.add(id)
    for (const [id, plant] of acknowledged) all.set(id, plant)
    onRound(round + 1, all.size)
  }
  for (const id of await findLost(path, all)) lost.add(id)
  assert.equal(integrityOf(path), 'ok')
  return { rounds, acknowledged: all.size, lost: lost.size }
}

/** The control: a server that acknowledges before the commit, until it has lost something. */
export async function killEarlyAck(): Promise<KillReport> {
  await using folder = await makeFolder()
  const path = folder.file('plants.db')
  let token = ''
  let all = 0
  for (let round = 0; round < controlRoundsMax; round += 1) {
    await using server = await startServer(path, { entry: earlyAck })
    token ||= server.token
    const acknowledged = await burstAndKill(server, token, round)
    all += acknowledged.size
    const lost = await findLost(path, acknowledged)
    if (lost.length > 0) return { rounds: round + 1, acknowledged: all, lost: lost.length }
  }
  return { rounds: controlRoundsMax, acknowledged: all, lost: 0 }
}

/** Plants with ids that no double holds, and names in many scripts. */
async function createPlantsOfTheWorld(client: Client): Promise<readonly NewPlant[]> {
  await using connection = await client.open()
  const text = await readFile(new URL('../support/plants-of-the-world.ndjson', import.meta.url), 'utf8')
  const lines = text.trimEnd().split('\n')
  for (const line of lines) assert.equal((await connection.request({ body: line })).status, 200)
  return lines.map((line) => decodeJson(Buffer.from(line), 1) as unknown as NewPlant)
}

function integrityOf(path: string): unknown {
  const database = new DatabaseSync(path)
  const [row] = database.prepare('PRAGMA integrity_check').all()
  database.close()
  return row?.['integrity_check']
}
