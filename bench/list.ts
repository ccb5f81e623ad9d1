// A page of 1,000 plants of a store of a million beside a bare Fastify route that sends the same bytes.

import { writeFile } from 'node:fs/promises'
import { compare } from './in-turn.ts'
import { plantsMany, writePlants } from './plants.ts'
import { here, makeStore, runCli, serving, startAll } from './process.ts'

export async function benchList(): Promise<void> {
  await using store = await makeStore()
  const { token } = store
  await writePlants(store.file('p.ndjson'), (id, name, tag) => `{"id":${id},"name":"${name}","tag":"${tag}"}\n`)
  runCli(['import', store.file('p.ndjson'), '--store', store.path])
  await using service = await startAll([serving(store)])
  const [listPlants] = service.all
  const page = await fetch(`${listPlants.url}/plants?limit=1000`, { headers: { authorization: `Bearer ${token}` } })
  const bytes = await page.text()
  await writeFile(store.file('page.json'), bytes)
  await using bare = await startAll([[here('send.ts'), store.file('page.json')]])
  await compare({
    title: `Pages of 1,000 plants (${Buffer.byteLength(bytes)} bytes) of a store of ${plantsMany}, beside a bare Fastify route that sends the same bytes`,
    servers: { 'bare Fastify': bare.all[0], listPlants },
    load: { kind: 'list', token, connections: 16 },
    ratePerSecond: 400,
  })
}
