// createPlant alone, and while other clients page through a million plants at full speed. The effect on an empty
// framework in a separate process shows the share that is due to the lack of cores.

import { type Effort, type Measure, measureInTurn, nextRun, underLoad } from './in-turn.ts'
import { findGenerator } from './load.ts'
import { fillStore, plantsMany, sequence } from './plants.ts'
import { here, makeStore, type ServerProcess, serving, startAll } from './process.ts'
import { createPlant, listPlants } from './requests.ts'
import type { Comparison } from './results.ts'

const connections = 64
const ratePerSecond = 1_000
const readers = 8
const pagePlants = 1_000

export async function* benchPagesBesideCreates(effort: Effort): AsyncGenerator<Comparison> {
  await using store = await makeStore()
  await fillStore(store, { idOf: sequence })
  await using servers = await startAll([serving(store), [here('contenders/fastify.ts')]])
  const [service, fastify] = servers.all
  const create = { request: createPlant(store.token), connections, ratePerSecond }
  const besidePages = (server: ServerProcess): Measure => beside(server, service, store.token)
  yield await measureInTurn(
    {
      title: `createPlant alone, and while ${readers} clients page through ${plantsMany} plants, ${pagePlants} a page`,
      setup: `${connections} connections by ${findGenerator().name} at ${ratePerSecond} requests a second`,
      connections,
      ratePerSecond,
      measures: {
        alone: underLoad(service, create),
        'beside pages': besidePages(service),
        'bare Fastify alone': underLoad(fastify, create),
        'bare Fastify beside those pages': besidePages(fastify),
      },
    },
    effort,
  )
}

/** Omits the CPU time, which would include the pages. */
function beside({ url }: ServerProcess, paged: ServerProcess, token: string): Measure {
  const generator = findGenerator()
  const creates = { url, request: createPlant(token), connections, ratePerSecond }
  const request = listPlants(token, `limit=${pagePlants}&after={id}000`)
  const pages = { url: paged.url, request, plants: plantsMany / pagePlants - 1, connections: readers }
  return async (seconds) => {
    const [created, paged] = await Promise.all([
      generator.run({ ...creates, seconds, run: nextRun() }),
      generator.run({ ...pages, seconds, run: nextRun() }),
    ])
    const { perSecond, p50Ms, p99Ms, p999Ms } = created
    return { perSecond, p50Ms, p99Ms, p999Ms, pagesPerSecond: paged.perSecond }
  }
}
