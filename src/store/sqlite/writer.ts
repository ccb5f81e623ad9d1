// The main thread's side of the writer thread: starts it, sends it requests, and detects failures.

import { setFlagsFromString } from 'node:v8'
import { AppError, OperatorError } from '../../domain/errors.ts'
import { type Identity, LostFileError } from './file/names.ts'
import { Thread } from './thread.ts'
import type { Opened, ToWriter, WriterOptions } from './writer-thread.ts'

/** The space for new objects of the thread, in which V8 collects garbage when it is full. */
const newSpaceMegabytes = 4

export interface Writer {
  /** The identity of the files when they were opened. */
  readonly identity: Identity
  /** Aborted, with the cause, when the state of the disk is unknown. */
  readonly failed: AbortSignal
  /** Marks the store as failed, permanently. */
  fail(cause: unknown): void

  /**
   * Sends a request to the thread.
   *
   * @throws AppError `storeFull` or `overloaded` if nothing was done, `storeUnavailable` if the outcome is unknown.
   */
  ask<Outcomes>(request: ToWriter): Promise<Outcomes>

  /**
   * Closes the file and ends the thread. After a failure, only waits until the thread has preserved the log, because
   * the process must exit.
   */
  close(): Promise<void>
}

/**
 * Resolves when the store is open for writing. Throws OperatorError if the file cannot be opened, and LostFileError if
 * another process removed a file beside it meanwhile.
 */
export async function startWriter(options: WriterOptions): Promise<Writer> {
  // By default, a thread collects garbage after each half megabyte: an eighth of the time of an import.
  setFlagsFromString(`--min-semi-space-size=${newSpaceMegabytes}`)
  const failure = new AbortController()
  const thread: Thread<ToWriter> = new Thread('writer-thread', 'plantstore-writer', options, (cause) => {
    failure.abort(cause instanceof Error ? cause : new Error(String(cause)))
    thread.send({ kind: 'break' })
    const message = 'the store has failed; it is not known whether this request was done'
    return new AppError('storeUnavailable', message, { cause })
  })
  const opened = await thread.ask<Opened>({ kind: 'open' }).catch(() => {
    throw failure.signal.reason
  })
  if ('why' in opened) {
    await thread.terminate()
    throw opened.isLost ? new LostFileError(opened.why) : new OperatorError(opened.why)
  }
  return {
    identity: opened.identity,
    failed: failure.signal,
    fail: (cause) => thread.end(cause),
    ask: (request) => thread.ask(request),
    close: () => (failure.signal.aborted ? thread.ended : thread.close({ kind: 'close' })),
  }
}
