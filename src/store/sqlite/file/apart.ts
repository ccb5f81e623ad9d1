// Calls of SQLite that may block their thread for minutes, in a process of their own, which can be killed at any time.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { text } from 'node:stream/consumers'
import { messageOf, OperatorError } from '../../../domain/errors.ts'

/** Signals that a terminal or systemd sends to both processes. */
const askingSignals: readonly (string | null)[] = ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGHUP']

// .ts in a checkout, .js after a build.
const processUrl = new URL(`./apart-process${extname(import.meta.url)}`, import.meta.url)

/** The result of `copy` is FileFacts; that of `checkPages` as in `findPageDamage`. */
export type Task =
  | {
      readonly kind: 'copy'
      /** The real path of the store. */
      readonly store: string
      /** The path of the copy. */
      readonly partial: string
      /** The path in messages about the copy. */
      readonly file: string
      readonly busyMsMax: number
    }
  | { readonly kind: 'checkPages'; readonly path: string }

export type Finished = { readonly result: unknown } | { readonly failure: string }

/** Throws OperatorError, worded for a backup, if the task fails, the process ends early, or `stopping` is aborted. */
export async function runApart<Result>(task: Task, stopping: AbortSignal): Promise<Result> {
  const stopped = (): OperatorError => new OperatorError('stopped; no backup was made')
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
    if (status !== 0) {
      const how = signal === 'SIGKILL' ? 'was killed, perhaps for lack of memory' : `ended with ${signal ?? status}`
      throw new OperatorError(`the copy process ${how}; no backup was made`)
    }
    const finished: Finished = JSON.parse(written)
    if ('failure' in finished) throw new OperatorError(finished.failure)
    return finished.result as Result
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
