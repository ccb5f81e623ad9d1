// getPlant of 100,000 plants beside a bare Fastify route that answers with a plant of the same size.

import { writeFile } from 'node:fs/promises'
import { compare } from './in-turn.ts'
import { cli, here, makeStore, runCli, startAll } from './process.ts'

const connections = 64
const ratePerSecond = 6_000
const plants = 100_000

export async function benchGet(): Promise<void> {
  await using store = await makeStore()
  const { token } = store
  const lines = Array.from(
    { length: plants },
    (_, index) => `{"id":${index + 1},"name":"Monstera deliciosa","tag":"aroid"}\n`,
  )
  await writeFile(store.file('plants.ndjson'), lines.join(''))
  runCli(['import', store.file('plants.ndjson'), '--store', store.path])
  await using servers = await startAll([
    [here('echo.ts')],
    [cli, 'serve', '--port', '0', '--store', store.path, '--log', 'off'],
  ])
  const [echo, service] = servers.all
  const load = { kind: 'get', token, connections } as const
  const tables = await compare(
    [
      { name: 'bare Fastify', server: echo, load },
      { name: 'getPlant', server: service, load },
    ],
    ratePerSecond,
  )
  process.stdout.write(
    `getPlant of ${plants} plants (authenticated, with its ETag) beside a bare Fastify route that reads nothing\n` +
      tables,
  )
}
