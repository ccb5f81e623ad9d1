// createPlant, getPlant and a bare Fastify echo with one connection and with many.

import { compare, type Effort } from './in-turn.ts'
import { fillStore, sequence } from './plants.ts'
import { here, makeStore, serving, startAll } from './process.ts'
import { createPlant, getPlant } from './requests.ts'
import type { Comparison } from './results.ts'

const numbers = [1, 8, 64, 256, 1_024] as const
const plants = 100_000

export async function* benchConnections(effort: Effort): AsyncGenerator<Comparison> {
  await using store = await makeStore()
  await fillStore(store, { plants, idOf: sequence })
  await using servers = await startAll([
    [here('contenders/fastify.ts')],
    [here('contenders/constant-bytes.ts')],
    serving(store),
  ])
  const [fastify, constantBytes, service] = servers.all
  const request = createPlant(store.token)
  const contenders = {
    'bare Fastify': fastify,
    'constant bytes': constantBytes,
    createPlant: service,
    getPlant: { ...service, request: getPlant(store.token) },
  }
  for (const connections of numbers) {
    const title = `${connections} connection${connections === 1 ? '' : 's'}`
    yield await compare({ title, servers: contenders, load: { request, plants, connections } }, effort)
  }
}
