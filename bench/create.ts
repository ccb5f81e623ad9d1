// createPlant beside a bare Fastify echo of the same body.

import { compare } from './in-turn.ts'
import { cli, here, makeStore, startAll } from './process.ts'

const connections = 64
const ratePerSecond = 6_000

export async function benchCreate(): Promise<void> {
  await using store = await makeStore()
  const { token } = store
  await using servers = await startAll([
    [here('echo.ts')],
    [cli, 'serve', '--port', '0', '--store', store.path, '--log', 'off'],
  ])
  const [echo, service] = servers.all
  const load = { kind: 'create', token, connections } as const
  const tables = await compare(
    [
      { name: 'bare Fastify', server: echo, load },
      { name: 'createPlant', server: service, load },
    ],
    ratePerSecond,
  )
  process.stdout.write(
    'createPlant (authenticated, validated, on disk before the answer) beside a bare Fastify echo of the same body\n' +
      tables,
  )
}
