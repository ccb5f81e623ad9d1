// The process as commands see it. Only src/main.ts accesses the process itself.

import { type BigIntStats, fstatSync, statSync } from 'node:fs'
import { devNull } from 'node:os'
import type { Writable } from 'node:stream'
import { systemClock } from './domain/clock.ts'
import { codeOf, OperatorError } from './domain/errors.ts'
import { limits } from './limits.ts'

export interface Terminal {
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly stdin: AsyncIterable<Buffer>
  readonly stdout: Output
  readonly stderr: Output
  readonly descriptorsMax: number
  /** Calls the listener with each of `endingSignals`, and once with SIGHUP when the terminal or npm's shell is gone. */
  onSignal(listener: (signal: Signal | 'SIGHUP') => void): void
  /** Calls the listener on SIGHUP, unless the terminal was closed. Without a listener, SIGHUP ends the process. */
  onHangup(listener: () => void): void
  /** Ends the process, which waits for pending system calls of its threads, for example on a disk that hangs. */
  exit(status: number): never
  /** Ends the process by the default action of the signal, without waiting for its threads. */
  endBy(signal: Signal): never
}

/** Signals that ask a process to end. */
export const endingSignals = ['SIGTERM', 'SIGINT', 'SIGQUIT'] as const

export type Signal = (typeof endingSignals)[number]

export type Output = Writable & { readonly isTTY?: boolean }

/**
 * Writes the output of a command. Returns false if the reader, such as `head`, closed the pipe. Throws OperatorError on
 * any other write error.
 */
export async function print(output: Output, text: string): Promise<boolean> {
  const error = await write(output, text)
  if (error && !['EPIPE', 'ERR_STREAM_DESTROYED'].includes(codeOf(error) ?? '')) throw unwritten(error)
  return !error
}

/** Writes a secret, which is shown only once. If that fails, calls `undo` and throws OperatorError. */
export async function printSecret(secret: string, { stdout }: Terminal, undo?: () => Promise<unknown>): Promise<void> {
  // Node.js opens /dev/null in place of a closed stdout.
  const isLost = statOf(stdout)?.rdev === statSync(devNull, { bigint: true }).rdev
  const error = isLost ? new Error(`it is closed, or is ${devNull}`) : await write(stdout, `${secret}\n`)
  if (!error) return
  await undo?.()
  throw unwritten(error)
}

function unwritten(cause: Error): OperatorError {
  return new OperatorError(`the output could not be written: ${cause.message}`, { cause })
}

function write(output: Output, text: string): Promise<Error | null | undefined> {
  const { promise, resolve } = Promise.withResolvers<Error | null | undefined>()
  output.write(text, resolve)
  return promise
}

/** Writes a line to stderr: messages of a command, as opposed to its output. */
export function say(text: string, terminal: Terminal): void {
  terminal.stderr.write(`${text}\n`)
}

/** Writes an error or a warning to stderr. */
export function complain(level: 'error' | 'warning', message: string, terminal: Terminal): void {
  const priority = isJournal(terminal.stderr, terminal) ? { error: '<3>', warning: '<4>' }[level] : ''
  say(`${priority}plantstore: ${level === 'warning' ? 'warning: ' : ''}${message}`, terminal)
}

/** Whether an output is the systemd journal, in which lines may begin with a priority (sd-daemon(3)). */
export function isJournal(output: Output, { environment }: Terminal): boolean {
  const journal = environment['JOURNAL_STREAM']
  if (journal === undefined) return false
  const stats = statOf(output)
  return stats !== undefined && journal === `${stats.dev}:${stats.ino}`
}

/** Undefined for an in-process stream, which has no descriptor. */
function statOf(output: Output): BigIntStats | undefined {
  return 'fd' in output && typeof output.fd === 'number' ? fstatSync(output.fd, { bigint: true }) : undefined
}

/**
 * Returns a signal that aborts at the first SIGTERM, SIGINT, SIGQUIT or SIGHUP, or when the terminal has gone. A second
 * SIGTERM, SIGINT or SIGQUIT ends the process at once.
 *
 * @param onStop receives the name of the first signal, before the abort.
 * @param onHangup called for a SIGHUP while the terminal is still there, instead of a stop.
 */
export function stopOnSignal(
  terminal: Terminal,
  onStop?: (signal: string) => unknown,
  onHangup?: () => void,
): AbortSignal {
  const stopping = new AbortController()
  let stoppedAtMs = Number.POSITIVE_INFINITY
  const stop = (signal: Signal | 'SIGHUP'): void => {
    const nowMs = systemClock.monotonicMs()
    if (signal !== 'SIGHUP' && nowMs - stoppedAtMs > limits.sameSignalMs) terminal.endBy(signal)
    if (stopping.signal.aborted) return
    stoppedAtMs = nowMs
    onStop?.(signal)
    stopping.abort()
  }
  terminal.onSignal(stop)
  terminal.onHangup(onHangup ?? (() => stop('SIGHUP')))
  return stopping.signal
}
