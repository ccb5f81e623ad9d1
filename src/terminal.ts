// What a command sees of the process it runs in. src/main.ts is the only file that touches the process itself.

import { fstatSync, statSync } from 'node:fs'
import { devNull } from 'node:os'
import type { Writable } from 'node:stream'
import { codeOf, OperatorError } from './domain/errors.ts'

export interface Terminal {
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly stdin: AsyncIterable<Buffer>
  readonly stdout: Output
  readonly stderr: Output
  /** The folder of the checkout that the program runs in, from the current one; undefined outside of it. */
  readonly checkout: string | undefined
  /** Files and sockets that the process may have open at once. */
  readonly descriptorsMax: number
  /** Calls back at each of `endingSignals` with its name. */
  onSignal(listener: (signal: Signal) => void): void
  /**
   * Calls back at each SIGHUP, unless it says that the terminal was closed, which counts as SIGTERM. Without a
   * listener, SIGHUP ends the process.
   */
  onHangup(listener: () => void): void
  /** Ends the process, which waits for what its threads have asked of the system, as of a disk that hangs. */
  exit(status: number): never
  /** Ends the process as the signal does to one that does not listen for it, even while its threads wait. */
  endBy(signal: Signal): never
}

/** Signals that ask a process to end. */
export const endingSignals = ['SIGTERM', 'SIGINT', 'SIGQUIT'] as const

export type Signal = (typeof endingSignals)[number]

/** `columns` is the width of a terminal. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number }

/**
 * Writes what a command is for. Gives false when the reader has gone, as `head` does that has seen enough; throws
 * OperatorError when it cannot be written for another reason.
 */
export async function print(output: Output, text: string): Promise<boolean> {
  const error = await write(output, text)
  if (error && !['EPIPE', 'ERR_STREAM_DESTROYED'].includes(codeOf(error) ?? '')) throw unwritten(error)
  return !error
}

/** Writes what cannot be shown again. Throws OperatorError also when the reader has gone, or there is none. */
export async function printSecret(output: Output, text: string): Promise<void> {
  if (isNowhere(output)) throw new OperatorError('the output goes nowhere, and a token can be shown only once')
  const error = await write(output, text)
  if (error) throw unwritten(error)
}

function unwritten(cause: Error): OperatorError {
  return new OperatorError(`the output could not be written: ${cause.message}`, { cause })
}

function write(output: Output, text: string): Promise<Error | null | undefined> {
  const { promise, resolve } = Promise.withResolvers<Error | null | undefined>()
  output.write(text, resolve)
  return promise
}

/** Says on stderr what is wrong, in a line of its own. */
export function complain(level: 'error' | 'warning', message: string, terminal: Terminal): void {
  const priority = isJournal(terminal.stderr, terminal) ? { error: '<3>', warning: '<4>' }[level] : ''
  terminal.stderr.write(`${priority}plantstore: ${level === 'warning' ? 'warning: ' : ''}${message}\n`)
}

/** Whether the journal of systemd reads an output: then lines may begin with their priority (sd-daemon(3)). */
export function isJournal(output: Output, { environment }: Terminal): boolean {
  const journal = environment['JOURNAL_STREAM']
  const descriptor = descriptorOf(output)
  if (journal === undefined || descriptor === undefined) return false
  const { dev, ino } = fstatSync(descriptor, { bigint: true })
  return journal === `${dev}:${ino}`
}

/** Node.js puts /dev/null in the place of an output that was closed before the program started. */
function isNowhere(output: Output): boolean {
  const descriptor = descriptorOf(output)
  if (descriptor === undefined) return false
  const facts = fstatSync(descriptor)
  return facts.isCharacterDevice() && facts.rdev === statSync(devNull).rdev
}

/** The descriptor of an output; undefined for one inside the process. */
function descriptorOf(output: Output): number | undefined {
  return 'fd' in output && typeof output.fd === 'number' ? output.fd : undefined
}
