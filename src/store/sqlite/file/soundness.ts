// Looks through all pages of a store by a process of its own, so that a server neither waits for it nor has to see it
// to its end.

import { type ChildProcess, fork } from 'node:child_process'
import { Socket } from 'node:net'
import { extname } from 'node:path'
import type { Verdict } from './quick-check.ts'

// The process's file ends as this one does: .ts in a checkout, .js after a build.
const checkerUrl = new URL(`./soundness-check${extname(import.meta.url)}`, import.meta.url)

export interface SoundnessCheck {
  /** The verdict, or `unknown` when it takes longer than so many milliseconds. */
  firstVerdict(msMax: number): Promise<Verdict>
  /** The verdict, however long it takes; `unknown` once the check was stopped. Keeps no process alive. */
  readonly finished: Promise<Verdict>
  /** Ends the check at once. */
  stop(): void
}

/**
 * Begins to look through the pages of a store, beside its users. To be called when the store is open for writing:
 * turning its log on, or its tables into newer ones, would have to wait for this.
 */
export function beginSoundnessCheck(path: string): SoundnessCheck {
  // A worker thread cannot be ended inside SQLite's check, which takes seconds of a large store; a process can.
  const child = fork(checkerUrl, { execArgv: ['--disable-sigusr1'], stdio: ['pipe', 'pipe', 'ignore', 'ipc'] })
  const finished = readVerdict(child)
  // A process that could not be started closes its pipes, too.
  child.on('error', () => {})
  child.stdin?.on('error', () => {}).end(path)
  // Its channel is not used, and would keep both alive.
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

/** The verdict is all that the process writes. One that ends without gives none. */
function readVerdict({ stdout }: ChildProcess): Promise<Verdict> {
  const { promise, resolve } = Promise.withResolvers<Verdict>()
  let text = ''
  stdout?.setEncoding('utf8').on('data', (part) => {
    text += part
  })
  // The pipe is a socket, which would keep this process alive for as long as the check takes.
  if (stdout instanceof Socket) stdout.unref()
  if (stdout === null) resolve({ kind: 'unknown' })
  stdout?.once('close', () => resolve(parseVerdict(text)))
  return promise
}

function parseVerdict(text: string): Verdict {
  try {
    return JSON.parse(text) as Verdict
  } catch {
    // It ended without one, or something that was loaded before it wrote there, too.
    return { kind: 'unknown' }
  }
}
