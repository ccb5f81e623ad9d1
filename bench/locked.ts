// createPlant on PostgreSQL by 64 clients: alone, beside one locked row that another client wants, and beside an open
// import that is kept as a whole, one of whose plants another client wants.

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Client, plantJson } from '../test/support/client.ts'
import { makeCluster } from '../test/support/postgres.ts'
import { startServer } from '../test/support/program.ts'
import { openTestStore } from '../test/support/store.ts'
import { median, row } from './process.ts'

const clients = 64
const roundMs = 4_000
const rounds = 3

interface Measured {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export async function benchLocked(): Promise<void> {
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
  const results = new Map<string, Measured[]>(Object.keys(beside).map((name) => [name, []]))
  let firstId = 0n
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, begin] of Object.entries(beside)) {
      const end = await begin()
      const measured = await measure(
        client,
        firstId,
        name === 'alone' ? undefined : name === 'a locked row' ? -1n : -10n,
      )
      await end()
      firstId += 1_000_000_000n
      // The first round is for warming up.
      if (round > 0) results.get(name)?.push(measured)
    }
  }
  await foreign.end()
  const figure = (name: string, of: keyof Measured): number => median((results.get(name) ?? []).map((each) => each[of]))
  const lines = [
    `createPlant on PostgreSQL ${cluster.version}, ${clients} clients, ${rounds} rounds of ${roundMs / 1_000} s each in turn, medians`,
    '',
    row(['beside', 'creates/s', 'p50 ms', 'p99 ms', 'p50 to alone']),
    ...Object.keys(beside).map((name) =>
      row([
        name,
        figure(name, 'perSecond').toFixed(0),
        figure(name, 'p50Ms').toFixed(2),
        figure(name, 'p99Ms').toFixed(2),
        (figure(name, 'p50Ms') / figure('alone', 'p50Ms')).toFixed(2),
      ]),
    ),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** @param wanted the id of a plant that one more client tries to replace, or create, all the while. */
async function measure(client: Client, firstId: bigint, wanted: bigint | undefined): Promise<Measured> {
  const endMs = performance.now() + roundMs
  const times: number[] = []
  const create = async (index: number): Promise<void> => {
    await using connection = await client.open()
    for (let id = firstId + BigInt(index); performance.now() < endMs; id += BigInt(clients)) {
      const startedMs = performance.now()
      const { status, body } = await connection.request({ body: plantJson(id, 'n') })
      if (status !== 200) throw new Error(`a create was answered with ${status}: ${body}`)
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
  return { perSecond: (times.length / roundMs) * 1_000, p50Ms: at(0.5), p99Ms: at(0.99) }
}
