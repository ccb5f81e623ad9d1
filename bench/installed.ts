// Packages that only benches need: they are in folders of their own, each with its lock file, and are no dependencies
// of the service.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { here } from './process.ts'

/** Installs the packages of a folder of bench/ unless they are there. None of them may run a script. */
export async function installPackages(folder: 'contenders' | 'plots'): Promise<void> {
  const cwd = here(folder)
  if (existsSync(`${cwd}/node_modules`)) return
  process.stderr.write(`installs the packages of bench/${folder}, once\n`)
  const npm = spawn('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [status] = await once(npm, 'close')
  if (status !== 0) throw new Error(`npm ci in bench/${folder} ended with ${status}`)
}
