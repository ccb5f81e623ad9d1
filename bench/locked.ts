// createPlant on PostgreSQL by 64 clients: alone, during a lock on one row that another client wants to change, and
// during an open import with --all-or-nothing, one of whose plants another client wants to create.

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Client, plantJson } from '../test/support/client.ts'
import { makeCluster } from '../test/support/postgres.ts'
import { startServer } from '../test/support/program.ts'
import { openTestStore } from '../test/support/store.ts'
import { type Effort, type Measure, measureInTurn } from './in-turn.ts'
import type { Comparison, Round } from './results.ts'

const clients = 64
export async function* benchLocked(effort: Effort): AsyncGenerator<Comparison> {
  await using cluster = await makeCluster()
  await cluster.start()
  await using server = await startServer(cluster.url)
  const client = await Client.connect(server)
  await client.create(-1n, 'locked')
  const foreign = new pg.Client({ connectionString: cluster.url })
  await foreign.connect()
  await using other = await openTestStore(cluster.url)
  const beside = {
    alone: async () => async () => {},
    'a locked row': async () => {
      await foreign.query('BEGIN; SELECT 1 FROM plants WHERE id = -1 FOR UPDATE')
      return async () => void (await foreign.query('ROLLBACK'))
    },
    'a whole import': async () => {
      const bulk = await other.beginImport({ isWhole: true })
      const plants = Array.from({ length: 1_000 }, (_, index) => ({ id: BigInt(-10 - index), name: 'imported' }))
      await bulk.add(plants, 'fail')
      return () => bulk.end()
    },
  } as const
  let firstId = 0n
  const measures = Object.entries(beside).map(([name, begin]) => {
    const wanted = name === 'alone' ? undefined : name === 'a locked row' ? -1n : -10n
    const measure: Measure = async (seconds) => {
      const end = await begin()
      const measured = await measureCreates(client, firstId, wanted, seconds)
      await end()
      firstId += 1_000_000_000n
      return measured
    }
    return [name, measure] as const
  })
  yield await measureInTurn(
    {
      title: `createPlant on PostgreSQL ${cluster.version}, alone and beside what locks a plant`,
      setup: `${clients} clients`,
      connections: clients,
      measures: Object.fromEntries(measures),
    },
    effort,
  )
  await foreign.end()
}

/** @param wanted the id of a plant that one more client continually tries to replace or create. */
async function measureCreates(
  client: Client,
  firstId: bigint,
  wanted: bigint | undefined,
  seconds: number,
): Promise<Round> {
  const endMs = performance.now() + 1_000 * seconds
  const times: number[] = []
  const create = async (index: number): Promise<void> => {
    await using connection = await client.open()
    for (let id = firstId + BigInt(index); performance.now() < endMs; id += BigInt(clients)) {
      const startedMs = performance.now()
      const { status, body } = await connection.request({ body: plantJson(id, 'n') })
      if (status !== 200) throw new Error(`a create got ${status}: ${body}`)
      times.push(performance.now() - startedMs)
    }
  }
  const want = async (): Promise<void> => {
    if (wanted === undefined) return
    await using connection = await client.open()
    const target = `/plants/${wanted}`
    while (performance.now() < endMs) {
      await connection.request(
        wanted === -1n ? { method: 'PUT', target, body: '{"name":"wanted"}' } : { body: plantJson(wanted, 'wanted') },
      )
      await sleep(1)
    }
  }
  await Promise.all([want(), ...Array.from({ length: clients }, (_, index) => create(index))])
  times.sort((a, b) => a - b)
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? Number.NaN
  return { perSecond: times.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99) }
}
