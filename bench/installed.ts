// Packages that only benches need. They are in separate folders, each with a lock file, and are not dependencies of the
// service.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { here } from './process.ts'

/** Installs the packages of a folder of bench/ unless they are installed. Their install scripts do not run. */
export async function installPackages(folder: 'contenders' | 'plots'): Promise<void> {
  const cwd = here(folder)
  if (existsSync(`${cwd}/node_modules`)) return
  process.stderr.write(`installing the packages of bench/${folder}, only once\n`)
  const npm = spawn('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [status] = await once(npm, 'close')
  if (status !== 0) throw new Error(`npm ci in bench/${folder} ended with ${status}`)
}
