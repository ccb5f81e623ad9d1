// Pages of a million plants compared with a bare Fastify route that sends the same bytes.

import { writeFile } from 'node:fs/promises'
import { compareBoth, type Effort } from './in-turn.ts'
import { fillStore } from './plants.ts'
import { here, makeStore, serving, startAll } from './process.ts'
import { listPlants } from './requests.ts'
import type { Comparison } from './results.ts'

const pages = [
  { plants: 100, ratePerSecond: 2_000 },
  { plants: 1_000, ratePerSecond: 400 },
] as const

export async function* benchList(effort: Effort): AsyncGenerator<Comparison> {
  await using store = await makeStore()
  await fillStore(store)
  await using servers = await startAll([serving(store)])
  const [service] = servers.all
  for (const { plants, ratePerSecond } of pages) {
    const request = listPlants(store.token, `limit=${plants}`)
    const page = await fetch(`${service.url}${request.path}`, { headers: request.headers })
    const bytes = await page.text()
    await writeFile(store.file('page.json'), bytes)
    await using bare = await startAll([[here('send.ts'), store.file('page.json')]])
    yield* compareBoth(
      {
        title: `Pages of ${plants} plants, ${Buffer.byteLength(bytes)} bytes, beside a Fastify route that sends the same bytes`,
        servers: { 'bare Fastify': bare.all[0], listPlants: service },
        load: { request, plants: 1, connections: 16 },
        ratePerSecond,
      },
      effort,
    )
  }
}
