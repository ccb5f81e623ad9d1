// The writer thread has the only connection for writes. It commits a batch of jobs, then answers.

import { closeSync, openSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { codeOf, messageOf } from '../../domain/errors.ts'
import type { Limits } from '../../limits.ts'
import { putBack } from '../files.ts'
import type { Job, JobOf, Outcome } from '../ledger.ts'
import { explainOpenFailure, hasFailed, openWritable, truncateLog } from './file/database.ts'
import { assertKept, findLost, type Identity, identityOf, LostFileError } from './file/names.ts'
import { send } from './thread.ts'
import { rollbackReason, TransactionRunner } from './transaction.ts'

export interface WriterOptions {
  readonly path: string
  /** False if a server has the store open. */
  readonly isAlone: boolean
  readonly limits: Limits
}

export type ToWriter =
  /** The answer is `Opened`. */
  | { readonly kind: 'open' }
  /** The answer to this and the next: one outcome per job. `atMs`: the time of the changes, by the wall clock. */
  | { readonly kind: 'commit'; readonly jobs: readonly Job[]; readonly atMs: number }
  | { readonly kind: 'import'; readonly jobs: readonly JobOf<'importPlant'>[]; readonly atMs: number }
  | { readonly kind: 'endImport'; readonly end: 'COMMIT' | 'ROLLBACK' }
  /** The store failed elsewhere. The thread preserves the log, and stops working. */
  | { readonly kind: 'break' }
  | { readonly kind: 'close' }

export type Opened =
  | { readonly identity: Identity }
  /** `isLost`: a file of the store was deleted or replaced before anything was written. */
  | { readonly why: string; readonly isLost: boolean }

if (isMainThread || parentPort === null) throw new TypeError('writer-thread.ts runs in a worker thread')

const options: WriterOptions = workerData
const port = parentPort

/** Each transaction also writes pages that its jobs share, such as the counts. It counts as this many jobs. */
const transactionJobs = 4

class FileWriter {
  readonly #database: DatabaseSync
  readonly #runner: TransactionRunner
  /** The identity of the files when they were opened. */
  readonly identity: Identity
  /** Reads the log even after it lost its name. SQLite holds no locks on the log, which closing this would drop. */
  readonly #log: number
  readonly #watch: NodeJS.Timeout
  #jobsSinceCheckpoint = 0
  /** Whether frames of a rejected transaction may be left at the end of the log. */
  #hasLeftovers = false
  #isBroken = false

  constructor() {
    const { path, isAlone, limits } = options
    // Beside a server, all files exist, and must be the server's before anything is written.
    const before = identityOf(path, isAlone ? [''] : undefined)
    this.#database = openWritable(path, limits.storeBusyMsMax, isAlone, () => assertKept(path, before))
    this.#runner = new TransactionRunner(this.#database, limits)
    this.identity = new Map([...identityOf(path), ...before])
    this.#assertKept()
    this.#log = openSync(`${path}-wal`, 'r')
    this.#watch = setInterval(() => this.check(), limits.storeWatchMs)
  }

  receive(message: Exclude<ToWriter, { kind: 'open' }>): void {
    if (this.#isBroken) return
    if (message.kind === 'close') {
      clearInterval(this.#watch)
      this.#database.close()
      closeSync(this.#log)
      port.close()
      return
    }
    if (message.kind === 'break') {
      this.#stop(new Error('the store has failed'))
      return
    }
    try {
      // Check before writing, too: if other processes use another index of the log, a write destroys their changes.
      this.#assertKept()
      if (this.#hasLeftovers && !this.#dropLeftovers()) {
        refuse('storeFull', new Error('the log could not be emptied'))
        return
      }
      const outcomes = this.#run(message)
      // If the file was deleted or replaced, a restart would not find the commit.
      this.#assertKept()
      send({ answer: outcomes })
    } catch (error) {
      this.#refuse(error)
      return
    }
    this.#checkpoint()
  }

  /** For an idle store; commits check by themselves. */
  check(): void {
    if (this.#isBroken) return
    try {
      this.#assertKept()
    } catch (error) {
      this.#stop(error)
    }
  }

  #assertKept(): void {
    assertKept(options.path, this.identity)
  }

  #run(message: Exclude<ToWriter, { kind: 'open' | 'close' | 'break' }>): readonly Outcome[] {
    switch (message.kind) {
      case 'commit':
        this.#jobsSinceCheckpoint += message.jobs.length + transactionJobs
        return this.#runner.run(message.jobs, message.atMs)
      case 'import':
        this.#jobsSinceCheckpoint += message.jobs.length
        return this.#runner.import(message.jobs, message.atMs)
      case 'endImport':
        this.#runner.endImport(message.end)
        return []
    }
  }

  /**
   * A full disk or a busy file: nothing was done, unless the log cannot be emptied of the frames of the transaction; then
   * the outcome is unknown. Any other error breaks the store: the outcome of all requests in flight is unknown.
   */
  #refuse(error: unknown): void {
    const isIndexFull = hasFailed(error, 'logIndexFull')
    const reason = rollbackReason(error)
    if (isIndexFull || reason !== undefined) this.#runner.endImport('ROLLBACK')
    if (isIndexFull) refuse(this.#dropLeftovers() ? 'storeFull' : 'storeUnavailable', error)
    else if (reason !== undefined) refuse(reason, error)
    else this.#stop(error)
  }

  /**
   * SQLite extends the index after it appends the frames of a transaction to the log. If the disk is full then, a
   * restart would find these frames. Truncating the log removes them.
   */
  #dropLeftovers(): boolean {
    this.#hasLeftovers = true
    try {
      this.#hasLeftovers = !truncateLog(this.#database)
    } catch (error) {
      if (rollbackReason(error) === undefined && !hasFailed(error, 'logIndexFull')) throw error
    }
    return !this.#hasLeftovers
  }

  #checkpoint(): void {
    if (this.#jobsSinceCheckpoint < options.limits.checkpointJobs || this.#database.isTransaction) return
    this.#jobsSinceCheckpoint = 0
    try {
      this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)')
    } catch (error) {
      // A full disk or a busy file postpones the checkpoint. The changes are durable in the log.
      if (rollbackReason(error) === undefined) this.#stop(error)
    }
  }

  /** After a failed fsync, a second one may wrongly succeed. Do not retry anything: the process must exit. */
  #stop(error: unknown): void {
    this.#isBroken = true
    clearInterval(this.#watch)
    send({ stopped: this.#keepLog() ?? error })
  }

  /**
   * Preserves the log for the next start after the log or the file has lost its name. Both are still open, so the log
   * is copied into the file. If that fails, or a reader needs an older snapshot, the log gets its name back. If only
   * the index is lost, there is nothing to preserve: the next start reads the log.
   *
   * @returns the error if the log could not be preserved.
   */
  #keepLog(): Error | undefined {
    const lost = findLost(options.path, this.identity)
    if (!lost.includes('') && !lost.includes('-wal')) return undefined
    try {
      if (this.#copyLog()) return undefined
      if (lost.includes('')) throw new Error('it cannot be copied into the file, which has lost its name, too')
      putBack(this.#log, `${options.path}-wal`)
      return undefined
    } catch (cause) {
      const why = messageOf(cause)
      return new Error(`${options.path}${lost[0]} was deleted or replaced, and its log could not be kept: ${why}`)
    }
  }

  #copyLog(): boolean {
    try {
      this.#runner.endImport('ROLLBACK')
      return truncateLog(this.#database)
    } catch {
      // The file may contain a part of the log. Together with the log, it is intact.
      return false
    }
  }
}

let writer: FileWriter | undefined

port.on('message', (message: ToWriter) => {
  if (message.kind === 'open') send({ answer: open() })
  else writer?.receive(message)
})

function open(): Opened {
  try {
    writer = new FileWriter()
    return { identity: writer.identity }
  } catch (error) {
    // The folder was there a moment ago, so it is the log that is missing.
    const isLost = error instanceof LostFileError || codeOf(error) === 'ENOENT'
    return { why: explainOpenFailure(error, options.path).message, isLost }
  }
}

/** The transaction was rolled back. `storeUnavailable`: the outcome is unknown, but the file is intact. */
function refuse(code: 'storeFull' | 'overloaded' | 'storeUnavailable', error: unknown): void {
  const messages = {
    storeFull: 'the disk of the store is full; nothing was done',
    overloaded: 'the file of the store is busy; nothing was done, try again',
    storeUnavailable: 'the disk of the store is full; it is not known whether this request was done',
  }
  send({ error, code, message: messages[code] })
}
