// The processes of `npm test`: the files of some folders share one, because they take longer to start than to run.

import { globSync } from 'node:fs'
import { join } from 'node:path'

const tests = join(import.meta.dirname, '..')

/** Folders by the file beside this one that runs their tests, the slowest first. */
export const folders = {
  browser: ['browser'],
  servers: ['crash', 'deploy', 'fleet'],
  verify: ['verify'],
  store: ['deliver', 'embed', 'store'],
  cli: ['cli'],
  http: ['http'],
  light: ['client', 'contract', 'domain', 'json', 'observe'],
} as const

export async function importTests(name: keyof typeof folders): Promise<void> {
  const patterns = folders[name].map((folder) => `${folder}/**/*.test.ts`)
  for (const file of globSync(patterns, { cwd: tests }).sort()) await import(join(tests, file))
}

/** The files of the first ring, each for a process of its own. */
export function filesOfFirstRing(): readonly string[] {
  const shared = Object.values(folders).flat()
  const exclude = shared.map((folder) => `test/${folder}`)
  return [...Object.keys(folders).map((name) => `test/all/${name}.ts`), ...globSync('test/**/*.test.ts', { exclude })]
}
