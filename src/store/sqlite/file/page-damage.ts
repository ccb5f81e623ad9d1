// Checks the pages of a store.

import { fork } from 'node:child_process'
import { extname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { messageOf } from '../../../domain/errors.ts'

const corrupt = 11
const notADatabase = 26

// .ts in a checkout, .js after a build.
const checkerUrl = new URL(`./page-checker${extname(import.meta.url)}`, import.meta.url)

/**
 * Checks all pages, at some hundred megabytes per second. Returns the first damage in one line; an empty text if there
 * is none, or the check could not run.
 *
 * @param open returns a connection. An error that it throws counts as a result of the check.
 */
export function findPageDamage(open: () => DatabaseSync): string {
  try {
    const problem = String(open().prepare('PRAGMA quick_check(1)').get()?.['quick_check'])
    return problem === 'ok' ? '' : problem.replaceAll(/\s*\n\s*/g, ' ')
  } catch (error) {
    // Other failures, such as a missing file, do not prove damage.
    const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined
    return code === corrupt || code === notADatabase ? messageOf(error) : ''
  }
}

/**
 * Does so in a separate process. Unlike a thread, it can be stopped during SQLite's check, which takes seconds for a
 * large store.
 *
 * @param stopping ends the process.
 */
export async function findPageDamageApart(path: string, stopping: AbortSignal): Promise<string> {
  const child = fork(checkerUrl, {
    execArgv: ['--disable-sigusr1'],
    stdio: ['pipe', 'pipe', 'ignore', 'ipc'],
    signal: stopping,
    killSignal: 'SIGKILL',
  })
  // If the process was stopped, or cannot be started, its output is empty.
  child.on('error', () => {})
  child.stdin?.on('error', () => {}).end(path)
  // The unused IPC channel would keep both processes alive.
  if (child.connected) child.disconnect()
  return child.stdout === null ? '' : text(child.stdout)
}
