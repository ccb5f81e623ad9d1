// Checks all pages of a store in a separate process, so that a server neither waits for the check nor has to finish it.

import { type ChildProcess, fork } from 'node:child_process'
import { Socket } from 'node:net'
import { extname } from 'node:path'
import type { Verdict } from './quick-check.ts'

// .ts in a checkout, .js after a build.
const checkerUrl = new URL(`./soundness-check${extname(import.meta.url)}`, import.meta.url)

export interface SoundnessCheck {
  /** The verdict, or `unknown` after `msMax`. */
  firstVerdict(msMax: number): Promise<Verdict>
  /** The final verdict; `unknown` if the check was stopped. Does not keep the process alive. */
  readonly finished: Promise<Verdict>
  stop(): void
}

/**
 * Starts to check the pages of a store while it is in use. Call it after the store is open for writing: enabling the
 * log and migrating the tables would have to wait for the check.
 */
export function beginSoundnessCheck(path: string): SoundnessCheck {
  // Unlike a worker thread, a process can be killed during SQLite's check, which takes seconds for a large store.
  const child = fork(checkerUrl, { execArgv: ['--disable-sigusr1'], stdio: ['pipe', 'pipe', 'ignore', 'ipc'] })
  const finished = readVerdict(child)
  // If the process cannot be started, its pipes are closed, which gives the verdict `unknown`.
  child.on('error', () => {})
  child.stdin?.on('error', () => {}).end(path)
  // The unused IPC channel would keep both processes alive.
  if (child.connected) child.disconnect()
  child.unref()
  return {
    finished,
    firstVerdict: async (msMax) => {
      const { promise, resolve } = Promise.withResolvers<Verdict>()
      const timer = setTimeout(resolve, msMax, { kind: 'unknown' })
      try {
        return await Promise.race([finished, promise])
      } finally {
        clearTimeout(timer)
      }
    },
    stop: () => {
      child.kill('SIGKILL')
    },
  }
}

/** Reads the output of the process: a verdict, or nothing if it ended early. */
function readVerdict({ stdout }: ChildProcess): Promise<Verdict> {
  const { promise, resolve } = Promise.withResolvers<Verdict>()
  let text = ''
  stdout?.setEncoding('utf8').on('data', (part) => {
    text += part
  })
  // The pipe is a socket, which would keep this process alive during the check.
  if (stdout instanceof Socket) stdout.unref()
  if (stdout === null) resolve({ kind: 'unknown' })
  stdout?.once('close', () => resolve(parseVerdict(text)))
  return promise
}

function parseVerdict(text: string): Verdict {
  try {
    return JSON.parse(text) as Verdict
  } catch {
    // No verdict, or preloaded code wrote to the output, too.
    return { kind: 'unknown' }
  }
}
