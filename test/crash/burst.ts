// A burst of creates by many writers at once, and the comparison of what was acknowledged with what is on disk.

import assert from 'node:assert/strict'
import type { NewPlant } from '../../verify/plant.ts'
import { Client, plantJson } from '../support/client.ts'
import type { RunningServer } from '../support/program.ts'
import { openTestStore, readPlant } from '../support/store.ts'

/** Plants whose create was answered with 200. */
export type Acknowledged = Map<bigint, Omit<NewPlant, 'id'>>

const writers = 16

/** Ids that no other writer has, without end. */
export function* idsFrom(writer: number): Generator<bigint> {
  for (let count = 0n; ; count += 1n) yield (BigInt(writer) << 32n) + count - 2n ** 62n
}

/** Creates plants until the server is gone, with ids of this burst alone. */
export async function writeUntilGone(
  server: RunningServer,
  token: string,
  burst: number,
  onAcknowledged: (count: number) => void = () => {},
): Promise<Acknowledged> {
  const client = await Client.connect({ ...server, token })
  const acknowledged: Acknowledged = new Map()
  const write = async (writer: number): Promise<void> => {
    await using connection = await client.open()
    for (const id of idsFrom(burst * writers + writer)) {
      const plant = { name: `plant ${id} 🌿`, ...(id % 2n === 0n && { tag: `writer ${writer}` }) }
      // The connection ends with the server; what was not answered by then may or may not be kept.
      const response = await connection.request({ body: plantJson(id, plant.name, plant.tag) }).catch(() => undefined)
      if (response === undefined || response.status === 503) return
      assert.equal(response.status, 200, response.body)
      acknowledged.set(id, plant)
      onAcknowledged(acknowledged.size)
    }
  }
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
  return acknowledged
}

/** The acknowledged plants that the store does not hold exactly as they were sent. */
export async function findLost(path: string, acknowledged: Acknowledged): Promise<bigint[]> {
  await using store = await openTestStore(path)
  const lost: bigint[] = []
  for (const [id, plant] of acknowledged) {
    const found = await readPlant(store, id)
    if (found?.name !== plant.name || found.tag !== plant.tag) lost.push(id)
  }
  return lost
}
