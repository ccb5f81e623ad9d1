// The published package has no TypeScript: what `npm run build` makes has to work as the sources do, its thread
// included.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cp, symlink } from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Client } from './support/client.ts'
import { makeFolder } from './support/folder.ts'
import { startServer } from './support/program.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

test('a build serves', async () => {
  await using folder = await makeFolder()
  const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'))
  execFileSync(process.execPath, [tsc, '-p', `${root}/tsconfig.build.json`, '--outDir', folder.file('dist')])
  for (const file of ['package.json', 'openapi.yaml', 'openapi.json', 'bin', 'site', 'examples'])
    await cp(`${root}/${file}`, folder.file(file), { recursive: true })
  await symlink(`${root}/node_modules`, folder.file('node_modules'))
  await using server = await startServer(folder.file('plants.db'), { launcher: folder.file('bin/plantstore.js') })
  const client = await Client.connect(server)
  assert.equal((await client.create(9007199254740993n, 'Ficus lyrata', 'fig')).status, 200)
  assert.equal(await server.stop(), 0)
})
