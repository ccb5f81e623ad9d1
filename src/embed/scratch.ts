// A temporary folder, which is removed after its last use, or when the process ends, however it ends.

import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Scratch {
  readonly folder: string
  remove(): Promise<void>
}

/**
 * Creates a folder. Where a shell exists, a child process removes the folder when this process ends, even by SIGKILL.
 */
export async function makeScratch(): Promise<Scratch> {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'))
  // A separate process group survives signals to the test's group. The child's input closes when this process ends.
  const keeper = spawn('/bin/sh', ['-c', 'read -r _; rm -rf -- "$1"', 'sh', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // The child may be killed at any time, for example together with all processes of a test.
  const ended = new Promise((resolve) => keeper.once('exit', resolve).once('error', resolve))
  keeper.stdin?.on('error', () => {})
  keeper.unref()
  // The pipe is a socket, which would also keep the process alive.
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
