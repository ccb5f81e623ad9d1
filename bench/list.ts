// Pages of a million plants compared with a bare Fastify route that sends the same bytes: one page, its 304, and a walk
// through all pages. Then pages of a PostgreSQL.

import { writeFile } from 'node:fs/promises'
import { makeCluster } from '../test/support/postgres.ts'
import { compare, compareBoth, type Effort } from './in-turn.ts'
import { fillStore, plantsMany, sequence } from './plants.ts'
import { here, makeStore, runCli, serving, startAll } from './process.ts'
import { getPlant, listPlants } from './requests.ts'
import type { Comparison } from './results.ts'

const pages = [
  { plants: 100, ratePerSecond: 2_000 },
  { plants: 1_000, ratePerSecond: 400 },
] as const
const connections = 16
const plantsOfPostgres = 100_000

export async function* benchList(effort: Effort): AsyncGenerator<Comparison> {
  await using store = await makeStore()
  await fillStore(store, { idOf: sequence })
  await using servers = await startAll([serving(store)])
  const [service] = servers.all
  for (const { plants, ratePerSecond } of pages) {
    const request = listPlants(store.token, `limit=${plants}`)
    const page = await fetch(`${service.url}${request.path}`, { headers: request.headers })
    const bytes = await page.text()
    await writeFile(store.file('page.json'), bytes)
    await using bare = await startAll([[here('send.ts'), store.file('page.json')]])
    const unchanged = { ...request, headers: { ...request.headers, 'If-None-Match': page.headers.get('etag') ?? '' } }
    const walk = listPlants(store.token, `limit=${plants}&after={id}${String(plants).slice(1)}`)
    yield* compareBoth(
      {
        title: `Pages of ${plants} plants, ${Buffer.byteLength(bytes)} bytes, beside a Fastify route that sends the same bytes`,
        servers: {
          'bare Fastify': bare.all[0],
          'one page': service,
          'one page, 304': { ...service, request: unchanged },
          'all pages in turn': { ...service, request: walk, plants: plantsMany / plants - 1 },
        },
        load: { request, plants: 1, connections },
        ratePerSecond,
      },
      effort,
    )
  }
  yield await listOfPostgres(effort)
}

async function listOfPostgres(effort: Effort): Promise<Comparison> {
  await using cluster = await makeCluster()
  await cluster.start(['shared_buffers=256MB'])
  const token = runCli(['token', 'create', '--name', 'bench', '--store', cluster.url]).trim()
  await using store = await makeStore()
  await fillStore({ ...store, path: cluster.url }, { plants: plantsOfPostgres, idOf: sequence })
  await cluster.query('VACUUM ANALYZE plants')
  await using servers = await startAll([serving({ ...store, path: cluster.url })])
  const [service] = servers.all
  const walk = (plants: number) => ({
    ...service,
    request: listPlants(token, `limit=${plants}&after={id}${String(plants).slice(1)}`),
    plants: plantsOfPostgres / plants - 1,
  })
  // The servers must run until then.
  return await compare(
    {
      title: `getPlant and pages in turn of ${plantsOfPostgres} plants on PostgreSQL ${cluster.version}`,
      servers: { 'getPlant, any': service, '100 plants': walk(100), '1,000 plants': walk(1_000) },
      load: { request: getPlant(token), plants: plantsOfPostgres, connections },
    },
    effort,
  )
}
