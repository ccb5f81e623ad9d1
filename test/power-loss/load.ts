// Clients that concurrently create, replace and delete plants of their own, and record the acknowledgements.

import assert from 'node:assert/strict'
import { idsFrom } from '../crash/burst.ts'
import { Client, type Connection, plantJson, type RowRequest } from '../support/client.ts'
import type { RunningServer } from '../support/program.ts'
import type { Change, KeptPlant } from './ledger.ts'
import { Random } from './random.ts'

const clients = 16

/**
 * Changes plants until the server is gone or has failed. Gives the changes of each client, of which only the last may
 * have no answer. Each round has ids of its own.
 */
export async function changeUntilGone(
  server: RunningServer,
  token: string,
  round: number,
  seed: number,
  onAcknowledged: (count: number) => void,
): Promise<Change[][]> {
  const own = await Client.connect({ ...server, token })
  let acknowledged = 0
  const run = async (client: number): Promise<Change[]> => {
    const changes: Change[] = []
    await using connection = await own.open()
    for (const change of drawChanges(round * clients + client, new Random(seed + client))) {
      const requestId = await request(connection, change)
      changes.push({ id: change.id, after: change.after, ...(requestId !== undefined && { requestId }) })
      if (requestId === undefined) break
      acknowledged += 1
      onAcknowledged(acknowledged)
    }
    return changes
  }
  return Promise.all(Array.from({ length: clients }, (_, client) => run(client)))
}

interface PlannedChange {
  readonly id: bigint
  readonly after: KeptPlant | undefined
  readonly parts: RowRequest
}

function* drawChanges(client: number, random: Random): Generator<PlannedChange> {
  const ids = idsFrom(client)
  const alive: bigint[] = []
  for (let count = 0; ; count += 1) {
    const index = random.below(alive.length)
    const old = alive.length > 4 && random.chance(0.4) ? alive[index] : undefined
    const id = old ?? (ids.next().value as bigint)
    const after = { name: `plant ${id} ${'🌿'.repeat(random.below(40))} ${count}`, tag: `client ${client}` }
    if (old === undefined) {
      alive.push(id)
      yield { id, after, parts: { body: plantJson(id, after.name, after.tag) } }
    } else if (random.chance(0.6)) {
      const body = plantJson(id, after.name, after.tag)
      yield { id, after, parts: { method: 'PUT', target: `/plants/${id}`, body } }
    } else {
      alive.splice(index, 1)
      yield { id, after: undefined, parts: { method: 'DELETE', target: `/plants/${id}` } }
    }
  }
}

/** The id of the request that was acknowledged; undefined when the server has failed or is gone. */
async function request(connection: Connection, { parts }: PlannedChange): Promise<string | undefined> {
  const response = await connection.request(parts).catch((cause: unknown) => {
    if (cause instanceof assert.AssertionError) throw cause
  })
  if (response === undefined || response.status === 503) return undefined
  assert.equal(response.status, parts.method === 'DELETE' ? 204 : 200, response.body)
  return response.headers.get('x-request-id') ?? assert.fail('an answer without the id of its request')
}
