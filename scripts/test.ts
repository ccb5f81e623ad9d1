// `npm test` runs the tests of the first ring, `npm run test:all` those of both (test/support/ring.ts). With file
// names, such as `npm test -- test/http/cors.test.ts`, only these files run.

import { existsSync, globSync, readFileSync, statfsSync } from 'node:fs'
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

/** Where Linux keeps files in memory. */
const memory = '/dev/shm'
const memoryBytesMin = 4 * 1024 ** 3

/** In containers there is often little. */
function isRoomy(folder: string): boolean {
  if (!existsSync(folder)) return false
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize >= memoryBytesMin
}

const contributing = readFileSync(new URL('../CONTRIBUTING.md', import.meta.url), 'utf8')
const [, cpuSeconds] = /about (\d+) CPU seconds/.exec(contributing) ?? []
Object.assign(process.env, {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)),
  // In UTC, a time by the clock of the machine could not be told from one that must be in UTC.
  TZ: 'America/New_York',
  ...(values.all && { TEST_RING: process.env['TEST_RING'] ?? 'all' }),
  ...(isFirstRing && cpuSeconds !== undefined && { TEST_CPU_SECONDS: cpuSeconds }),
  // Writing to a disk costs time of the processor, too. The second ring has a real one.
  ...(isFirstRing && isRoomy(memory) && { TMPDIR: memory }),
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
