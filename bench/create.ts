// createPlant beside a bare Fastify echo of the same body.

import { runInTurn, tableOf } from './in-turn.ts'
import { findGenerator } from './load.ts'
import { cli, here, makeStore, startAll } from './process.ts'

const connections = 64

export async function benchCreate(): Promise<void> {
  await using store = await makeStore()
  const { token } = store
  await using servers = await startAll([
    [here('echo.ts')],
    [cli, 'serve', '--port', '0', '--store', store.path, '--log', 'off'],
  ])
  const [echo, service] = servers.all
  const load = { kind: 'create', token, connections } as const
  const generator = findGenerator()
  const results = await runInTurn(
    [
      { name: 'bare Fastify', server: echo, load },
      { name: 'createPlant', server: service, load },
    ],
    generator,
  )
  process.stdout.write(
    'createPlant (authenticated, validated, on disk before the answer) beside a bare Fastify echo of the same body\n' +
      tableOf(results, generator, connections),
  )
}
