// createPlant compared with a bare Fastify echo of the same body.

import { compareBoth, type Effort } from './in-turn.ts'
import { here, makeStore, serving, startAll } from './process.ts'
import { createPlant } from './requests.ts'
import type { Comparison } from './results.ts'

export async function* benchCreate(effort: Effort): AsyncGenerator<Comparison> {
  await using store = await makeStore()
  await using servers = await startAll([[here('fastify.ts')], serving(store)])
  const [echo, service] = servers.all
  yield* compareBoth(
    {
      title: 'createPlant beside a bare Fastify echo of the same body',
      servers: { 'bare Fastify': echo, createPlant: service },
      load: { request: createPlant(store.token), connections: 64 },
      ratePerSecond: 6_000,
    },
    effort,
  )
}
