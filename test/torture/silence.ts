// One TCP flow of a server after the other goes silent, under load, in a network namespace of its own.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Run, Torture, Verdict } from './torture.ts'

export const silence: Torture = {
  name: 'silence',
  counts: 'FAULTS',
  usualCount: 45,
  shortCount: 4,
  isSeeded: false,
  run,
}

const inside = fileURLToPath(new URL('silence/inside.ts', import.meta.url))
const canDrop = 'ip link set lo up && nft add table inet silence'

async function run({ count, say }: Run): Promise<Verdict> {
  if (spawnSync('unshare', ['--net', 'sh', '-c', canDrop]).status !== 0) {
    say('silence: there is no unshare, ip or nft here, or this user may not make namespaces of networks')
    return 'missing'
  }
  const command = `ip link set lo up && exec "$0" "$@"`
  const child = spawn('unshare', ['--net', 'sh', '-c', command, process.execPath, inside, String(count)], {
    env: { ...process.env, DATABASE_URL: undefined },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const kill = (): void => void child.kill('SIGTERM')
  process.once('exit', kill)
  createInterface(child.stdout).on('line', say)
  const [status] = await once(child, 'close')
  process.off('exit', kill)
  return status === 0 ? 'good' : 'bad'
}
