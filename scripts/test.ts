// `npm test` runs the tests of the first ring, `npm run test:all` those of both (test/support/ring.ts). With file
// names, such as `npm test -- test/http/cors.test.ts`, only these files run.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({ options: { all: { type: 'boolean' } }, allowPositionals: true })
const rings = ['test/**/*.test.ts', ...(values.all ? ['test/**/*.exhaustive.ts'] : [])]
const tests = [
  '--test',
  '--test-global-setup=test/support/global-setup.ts',
  '--test-concurrency=5',
  '--test-timeout=900000',
  ...(positionals.length > 0 ? positionals : rings),
]
const env = {
  ...process.env,
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)),
  ...(values.all && { TEST_RING: 'all' }),
}
const { status } = spawnSync(process.execPath, tests, { env, stdio: 'inherit' })
process.exit(status ?? 1)
