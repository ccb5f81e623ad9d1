// `npm test` runs the tests of the first ring, `npm run test:all` those of both (test/support/ring.ts). With file
// names, such as `npm test -- test/http/cors.test.ts`, only these files run.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { filesOfFirstRing } from '../test/all/folders.ts'

const { values, positionals } = parseArgs({ options: { all: { type: 'boolean' } }, allowPositionals: true })
const isFirstRing = !values.all && positionals.length === 0
const rings = isFirstRing ? filesOfFirstRing() : ['test/**/*.test.ts', 'test/**/*.exhaustive.ts']
const tests = [
  '--test',
  '--test-global-setup=test/support/global-setup.ts',
  '--test-concurrency=5',
  '--test-timeout=900000',
  ...(positionals.length > 0 ? positionals : rings),
]
const contributing = readFileSync(new URL('../CONTRIBUTING.md', import.meta.url), 'utf8')
const [, cpuSeconds] = /about (\d+) CPU seconds/.exec(contributing) ?? []
const env = {
  ...process.env,
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)),
  ...(values.all && { TEST_RING: process.env['TEST_RING'] ?? 'all' }),
  ...(isFirstRing && cpuSeconds !== undefined && { TEST_CPU_SECONDS: cpuSeconds }),
}
const { status } = spawnSync(process.execPath, tests, { env, stdio: 'inherit' })
process.exit(status ?? 1)
