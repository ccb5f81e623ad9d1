// `npm test` runs the tests of the first ring, `npm run test:all` those of both (test/support/ring.ts). With file
// names, such as `npm test -- test/http/cors.test.ts`, only these files run.

import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { filesOfFirstRing } from '../test/all/folders.ts'

const { values, positionals } = parseArgs({ options: { all: { type: 'boolean' } }, allowPositionals: true })
const isFirstRing = !values.all && positionals.length === 0
const ring = isFirstRing ? filesOfFirstRing() : globSync(['test/**/*.test.ts', 'test/**/*.exhaustive.ts']).sort()
const files = positionals.length > 0 ? positionals : ring

const contributing = readFileSync(new URL('../CONTRIBUTING.md', import.meta.url), 'utf8')
const [, cpuSeconds] = /about (\d+) CPU seconds/.exec(contributing) ?? []
Object.assign(process.env, {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)),
  ...(values.all && { TEST_RING: process.env['TEST_RING'] ?? 'all' }),
  ...(isFirstRing && cpuSeconds !== undefined && { TEST_CPU_SECONDS: cpuSeconds }),
})

run({
  files: files.map((file) => resolve(file)),
  // More than there are cores, because each process also waits, such as for a disk.
  concurrency: 6,
  timeout: 900_000,
  // TypeScript does not know this option yet.
  ...{ globalSetupPath: resolve('test/support/global-setup.ts') },
})
  .on('test:summary', ({ file, success }) => {
    if (file === undefined && !success) process.exitCode = 1
  })
  .compose(spec)
  .pipe(process.stdout)
