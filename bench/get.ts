// getPlant of 100,000 plants beside a bare Fastify route that answers with a plant of the same size.

import { writeFile } from 'node:fs/promises'
import { compare } from './in-turn.ts'
import { here, makeStore, runCli, serving, startAll } from './process.ts'

const plants = 100_000

export async function benchGet(): Promise<void> {
  await using store = await makeStore()
  const lines = Array.from(
    { length: plants },
    (_, index) => `{"id":${index + 1},"name":"Monstera deliciosa","tag":"aroid"}\n`,
  )
  await writeFile(store.file('plants.ndjson'), lines.join(''))
  runCli(['import', store.file('plants.ndjson'), '--store', store.path])
  await using servers = await startAll([[here('echo.ts')], serving(store)])
  const [echo, service] = servers.all
  await compare({
    title: `getPlant of ${plants} plants (authenticated, with its ETag) beside a bare Fastify route that reads nothing`,
    servers: { 'bare Fastify': echo, getPlant: service },
    load: { kind: 'get', token: store.token, connections: 64 },
    ratePerSecond: 6_000,
  })
}
