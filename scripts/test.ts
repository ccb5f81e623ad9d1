// `npm test` and `npm run test:all`: types, style, then the tests of one ring or of both (test/support/ring.ts). Files
// that are named, such as `npm test -- test/http/cors.test.ts`, are run alone.

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
const environment = {
  ...process.env,
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)),
  ...(values.all && { TEST_RING: 'all' }),
}

for (const [program, args] of [
  ['tsc', []],
  ['biome', ['check', '--error-on-warnings']],
  [process.execPath, tests],
] as const) {
  const { status, error } = spawnSync(program, args, { env: environment, stdio: 'inherit' })
  if (error !== undefined) throw error
  if (status !== 0) process.exit(status ?? 1)
}
