// The output of `npm run build`, which has no TypeScript, must work like the sources, including its threads.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cp, rm, symlink } from 'node:fs/promises'
import { Client } from './support/client.ts'
import { onFolder } from './support/folder.ts'
import { startServer } from './support/program.ts'
import { root } from './support/readme.ts'
import { importClient, loadScripts } from './support/site.ts'

onFolder('a build serves', async (folder) => {
  const tsc = `${root}/node_modules/typescript-native/bin/tsc`
  const files = 'package.json tsconfig.json tsconfig.build.json openapi.yaml openapi.json'.split(' ')
  for (const name of [...files, 'bin', 'client', 'examples', 'site', 'src', 'verify'])
    await cp(`${root}/${name}`, folder.file(name), { recursive: true })
  await symlink(`${root}/node_modules`, folder.file('node_modules'))
  for (const config of ['tsconfig.build.json', 'site/tsconfig.build.json'])
    execFileSync(process.execPath, [tsc, '-p', folder.file(config)])
  // Without the sources it is what is published.
  for (const file of ['src', 'client', 'verify']) await rm(folder.file(file), { recursive: true })
  await using server = await startServer(folder.file('plants.db'), { launcher: folder.file('bin/plantstore.js') })
  const client = await Client.connect(server)
  assert.equal((await client.create(9007199254740993n, 'Ficus lyrata', 'fig')).status, 200)
  assert.ok((await loadScripts(server.url)).size === 3)
  const { PlantStoreClient } = await importClient(server.url)
  assert.equal((await new PlantStoreClient(server).getPlant(9007199254740993n)).tag, 'fig')
  assert.equal(await server.stop(), 0)
})
