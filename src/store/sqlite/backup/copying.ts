// Copies a store by a process of its own, which can be ended in the middle: SQLite copies, and checks, in one call that
// may take minutes, and nothing else happens in its thread meanwhile.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { text } from 'node:stream/consumers'
import { messageOf, OperatorError } from '../../../domain/errors.ts'
import type { FileFacts } from '../../engine.ts'
import { removeBeside } from '../file/beside.ts'

/** Signals that a terminal, or systemd, sends to both processes. */
const askingSignals: readonly (string | null)[] = ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGHUP']

// The process's file ends as this one does: .ts in a checkout, .js after a build.
const copierUrl = new URL(`./copier${extname(import.meta.url)}`, import.meta.url)

export interface CopyTask {
  /** The store, by its real path. */
  readonly store: string
  /** The file to be made. */
  readonly partial: string
  /** What a failure to write it names. */
  readonly file: string
  readonly busyMsMax: number
}

/** What the process writes. */
export type Copied = { readonly facts: FileFacts } | { readonly failure: string }

/**
 * Makes a copy of a store as it is at one moment, synced and checked. When it rejects, nothing lies beside what was written of it.
 *
 * @throws OperatorError when it cannot be made, or `stopping` is aborted.
 */
export async function copyChecked(task: CopyTask, stopping: AbortSignal): Promise<FileFacts> {
  try {
    const copied = await runCopier(task, stopping)
    if ('facts' in copied) return copied.facts
    throw new OperatorError(copied.failure)
  } catch (cause) {
    removeBeside(task.partial)
    throw cause
  }
}

async function runCopier(task: CopyTask, stopping: AbortSignal): Promise<Copied> {
  if (stopping.aborted) throw stopped()
  const child = startCopier()
  const stop = (): void => void child.kill('SIGKILL')
  stopping.addEventListener('abort', stop)
  try {
    // Its channel is not used, and would keep both alive.
    if (child.connected) child.disconnect()
    child.stdin?.on('error', () => {}).end(JSON.stringify(task))
    const [written, [status, signal]] = await Promise.all([
      // There is none where there were no descriptors to start it with.
      child.stdout == null ? '' : text(child.stdout),
      (once(child, 'exit') as Promise<[number | null, string | null]>).catch(notStarted),
    ])
    if (stopping.aborted || askingSignals.includes(signal)) throw stopped()
    if (signal === 'SIGKILL') {
      throw new OperatorError('the process that copies was killed, as by a system short of memory; no backup was made')
    }
    if (status !== 0) {
      throw new OperatorError(`the process that copies ended with ${signal ?? status}; no backup was made`)
    }
    return JSON.parse(written) as Copied
  } finally {
    stopping.removeEventListener('abort', stop)
  }
}

function startCopier(): ChildProcess {
  try {
    return fork(copierUrl, { execArgv: ['--disable-sigusr1'], stdio: ['pipe', 'pipe', 'inherit', 'ipc'] })
  } catch (cause) {
    return notStarted(cause)
  }
}

function notStarted(cause: unknown): never {
  const why = messageOf(cause)
  throw new OperatorError(`the process that copies could not be started: ${why}; no backup was made`, { cause })
}

function stopped(): OperatorError {
  return new OperatorError('stopped; no backup was made')
}
