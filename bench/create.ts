// createPlant beside a bare Fastify echo of the same body.

import { compare } from './in-turn.ts'
import { here, makeStore, serving, startAll } from './process.ts'

export async function benchCreate(): Promise<void> {
  await using store = await makeStore()
  await using servers = await startAll([[here('echo.ts')], serving(store)])
  const [echo, service] = servers.all
  await compare({
    title:
      'createPlant (authenticated, validated, on disk before the answer) beside a bare Fastify echo of the same body',
    servers: { 'bare Fastify': echo, createPlant: service },
    load: { kind: 'create', token: store.token, connections: 64 },
    ratePerSecond: 6_000,
  })
}
