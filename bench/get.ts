// getPlant among a million plants, of one plant, and its 304, compared with a bare Fastify route that sends a plant of
// the same size.

import { compareBoth, type Effort } from './in-turn.ts'
import { fillStore, plantsMany, sequence } from './plants.ts'
import { here, makeStore, serving, startAll } from './process.ts'
import { getPlant } from './requests.ts'
import type { Comparison } from './results.ts'

const path = '/plants/500000'

export async function* benchGet(effort: Effort): AsyncGenerator<Comparison> {
  await using store = await makeStore()
  await fillStore(store, { idOf: sequence })
  await using servers = await startAll([[here('fastify.ts')], serving(store)])
  const [echo, service] = servers.all
  const request = getPlant(store.token)
  const { headers } = await fetch(`${service.url}${path}`, { headers: request.headers })
  const one = { ...request, path }
  const unchanged = { ...one, headers: { ...one.headers, 'If-None-Match': headers.get('etag') ?? '' } }
  yield* compareBoth(
    {
      title: `getPlant among ${plantsMany} plants beside a bare Fastify route that reads nothing`,
      servers: {
        'bare Fastify': echo,
        'one plant': { ...service, request: one },
        'one plant, 304': { ...service, request: unchanged },
        'any plant': service,
      },
      load: { request, plants: plantsMany, connections: 64 },
      ratePerSecond: 6_000,
    },
    effort,
  )
}
