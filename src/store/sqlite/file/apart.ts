// Calls of SQLite that may block their thread for minutes, in a process of their own, which can be killed at any time.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { text } from 'node:stream/consumers'
import { messageOf, OperatorError } from '../../../domain/errors.ts'
import type { FileFacts } from '../../engine.ts'
import { removeBeside } from './names.ts'

/** Signals that a terminal or systemd sends to both processes. */
const askingSignals: readonly (string | null)[] = ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGHUP']

// .ts in a checkout, .js after a build.
const processUrl = new URL(`./apart-process${extname(import.meta.url)}`, import.meta.url)

export type Task = CopyTask | { readonly kind: 'checkPages'; readonly path: string }

export interface CopyTask {
  readonly kind: 'copy'
  /** The real path of the store. */
  readonly store: string
  /** The path of the copy. */
  readonly partial: string
  /** The path in messages about the copy. */
  readonly file: string
  readonly busyMsMax: number
}

/** The output of the process. */
export type Finished = { readonly result: FileFacts | string } | { readonly failure: string }

/**
 * Copies a snapshot of a store, syncs and checks it. On failure, removes the files beside the copy, but not the copy.
 *
 * @throws OperatorError if the copy fails or `stopping` is aborted.
 */
export async function copyChecked(task: CopyTask, stopping: AbortSignal): Promise<FileFacts> {
  try {
    const finished = await runApart(task, stopping)
    if ('failure' in finished) throw new OperatorError(finished.failure)
    return finished.result as FileFacts
  } catch (cause) {
    removeBeside(task.partial)
    throw cause
  }
}

/** Like `findPageDamage`. Returns an empty text, too, if the process cannot be started or `stopping` is aborted. */
export async function findPageDamageApart(path: string, stopping: AbortSignal): Promise<string> {
  const finished = await runApart({ kind: 'checkPages', path }, stopping).catch(() => ({ result: '' }))
  return 'result' in finished ? String(finished.result) : ''
}

/** Throws OperatorError, for a backup, if the process ends early. */
async function runApart(task: Task, stopping: AbortSignal): Promise<Finished> {
  if (stopping.aborted) throw stopped()
  const child = start()
  const stop = (): void => void child.kill('SIGKILL')
  stopping.addEventListener('abort', stop)
  try {
    // The unused IPC channel would keep both processes alive.
    if (child.connected) child.disconnect()
    child.stdin?.on('error', () => {}).end(JSON.stringify(task))
    const [written, [status, signal]] = await Promise.all([
      // Absent if there were no descriptors to start the process.
      child.stdout == null ? '' : text(child.stdout),
      (once(child, 'exit') as Promise<[number | null, string | null]>).catch(notStarted),
    ])
    if (stopping.aborted || askingSignals.includes(signal)) throw stopped()
    if (signal === 'SIGKILL') {
      throw new OperatorError('the copy process was killed, perhaps for lack of memory; no backup was made')
    }
    if (status !== 0) {
      throw new OperatorError(`the copy process ended with ${signal ?? status}; no backup was made`)
    }
    return JSON.parse(written) as Finished
  } finally {
    stopping.removeEventListener('abort', stop)
  }
}

function start(): ChildProcess {
  try {
    return fork(processUrl, { execArgv: ['--disable-sigusr1'], stdio: ['pipe', 'pipe', 'inherit', 'ipc'] })
  } catch (cause) {
    return notStarted(cause)
  }
}

function notStarted(cause: unknown): never {
  const why = messageOf(cause)
  throw new OperatorError(`the copy process could not be started: ${why}; no backup was made`, { cause })
}

function stopped(): OperatorError {
  return new OperatorError('stopped; no backup was made')
}
