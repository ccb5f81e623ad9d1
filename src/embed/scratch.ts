// A temporary folder that is removed after its last use, however the process ends.

import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Scratch {
  readonly folder: string
  /** Removes the folder. */
  remove(): Promise<void>
}

/** Makes a folder. Where there is a shell, one waits for the end of this process, be it by SIGKILL, to remove it. */
export async function makeScratch(): Promise<Scratch> {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'))
  // In a group of its own, it is not ended by what ends the test. Its input ends with this process.
  const keeper = spawn('/bin/sh', ['-c', 'read -r _; rm -rf -- "$1"', 'sh', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // It may be ended at any time, as when all processes of a test are killed.
  const ended = new Promise((resolve) => keeper.once('exit', resolve).once('error', resolve))
  keeper.stdin?.on('error', () => {})
  keeper.unref()
  // The pipe is a socket, which would keep the process, too.
  ;(keeper.stdin as Socket | null)?.unref()
  return {
    folder,
    remove: async () => {
      await rm(folder, { recursive: true, force: true })
      keeper.ref()
      keeper.stdin?.end()
      await ended
    },
  }
}
