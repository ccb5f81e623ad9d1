// A temporary folder that is removed after its last use, however the process ends.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { platform, tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Scratch {
  readonly folder: string
  /** Removes the folder. */
  remove(): Promise<void>
}

/** Makes a folder. Where there is a shell, one waits for the end of this process, be it by SIGKILL, to remove it. */
export async function makeScratch(): Promise<Scratch> {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'))
  const keeper = platform() === 'win32' ? undefined : await startKeeper(folder)
  return {
    folder,
    remove: async () => {
      await rm(folder, { recursive: true, force: true })
      if (keeper === undefined) return
      keeper.shell.ref()
      keeper.shell.stdin?.end()
      await keeper.exited
    },
  }
}

interface Keeper {
  readonly shell: ChildProcess
  /** Resolves when it has ended, as it may at any time, when all processes of a test are killed. */
  readonly exited: Promise<unknown>
}

async function startKeeper(folder: string): Promise<Keeper | undefined> {
  // In a group of its own, it is not ended by what ends the test. Its input ends with this process.
  const keeper = spawn('/bin/sh', ['-c', 'read -r _; rm -rf -- "$1"', 'sh', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const exited = new Promise((resolve) => keeper.once('exit', resolve))
  keeper.stdin?.on('error', () => {})
  try {
    await once(keeper, 'spawn')
  } catch {
    return undefined
  }
  keeper.unref()
  // The pipe is a socket, which would keep the process, too.
  ;(keeper.stdin as Socket | null)?.unref()
  return { shell: keeper, exited }
}
