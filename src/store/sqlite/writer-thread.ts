// The writer thread: the one connection that writes. It takes a batch of jobs, commits it, and only then answers.

import { closeSync, openSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../../domain/errors.ts'
import { putBack } from '../files.ts'
import type { Outcome } from '../jobs.ts'
import { explainOpenFailure, isLogIndexFull, openWritable, truncateLog } from './file/database.ts'
import { FileIdentity, type FileNames, LostFileError, namesOf, suffixes } from './file/identity.ts'
import { rollbackReason, TransactionRunner } from './transaction.ts'
import type { FromWriter, ToWriter, WriterOptions } from './writer-messages.ts'

if (isMainThread || parentPort === null) throw new TypeError('writer.ts runs in a worker thread')

const options: WriterOptions = workerData
const port = parentPort

/** A transaction writes the pages that all of its jobs share, as those of the counts: it counts for so many jobs. */
const transactionJobs = 4

class Writer {
  readonly #database: DatabaseSync
  readonly #runner: TransactionRunner
  readonly #files: FileIdentity
  /** The log can be read by this when it has no name any more. SQLite holds no locks on it, which closing would drop. */
  readonly #log: number
  readonly #watch: NodeJS.Timeout
  #jobsSinceCheckpoint = 0
  /** Frames of a transaction that was refused may be left at the end of the log. */
  #hasLeftovers = false
  #isBroken = false

  constructor() {
    const { path, isAlone } = options
    // Beside a server all files are there, and have to be the server's own before anything is written.
    const before = new FileIdentity(path, namesOf(path, isAlone ? [''] : suffixes))
    this.#database = openWritable(path, options, () => before.check())
    this.#runner = new TransactionRunner(this.#database, options)
    this.#files = new FileIdentity(path, new Map([...namesOf(path, suffixes), ...before.names]))
    this.#files.check()
    this.#log = openSync(`${path}-wal`, 'r')
    this.#watch = setInterval(() => this.check(), options.storeWatchMs)
  }

  get fileNames(): FileNames {
    return this.#files.names
  }

  receive(message: ToWriter): void {
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
      // Looked at before, too: what is written to a log that others have an index of their own of destroys their changes.
      this.#files.check()
      if (this.#hasLeftovers && !this.#dropLeftovers()) {
        send({ kind: 'refused', code: 'storeFull', error: new Error('the log could not be emptied') })
        return
      }
      const outcomes = this.#run(message)
      // What a commit wrote to a file that is not under its name any more is lost to the next start.
      this.#files.check()
      send({ kind: 'done', outcomes })
    } catch (error) {
      this.#refuse(error)
      return
    }
    this.#checkpoint()
  }

  /** Commits look by themselves; this is for a store that only reads. */
  check(): void {
    if (this.#isBroken) return
    try {
      this.#files.check()
    } catch (error) {
      this.#stop(error)
    }
  }

  #run(message: Exclude<ToWriter, { kind: 'close' | 'break' }>): readonly Outcome[] {
    switch (message.kind) {
      case 'commit':
        this.#jobsSinceCheckpoint += message.jobs.length + transactionJobs
        return this.#runner.run(message.jobs)
      case 'import':
        this.#jobsSinceCheckpoint += message.jobs.length
        return this.#runner.import(message.jobs)
      case 'commitImport':
        this.#runner.commitImport()
        return []
      case 'endImport':
        this.#runner.endImport()
        return []
    }
  }

  #refuse(error: unknown): void {
    if (isLogIndexFull(error)) {
      this.#runner.endImport()
      send({ kind: 'refused', code: this.#dropLeftovers() ? 'storeFull' : 'storeUnavailable', error })
      return
    }
    const code = rollbackReason(error)
    if (code === undefined) {
      this.#stop(error)
      return
    }
    this.#runner.endImport()
    send({ kind: 'refused', code, error })
  }

  /**
   * The index of the log is extended after a transaction's frames are in the log: a disk that is full just then leaves
   * them there, where a new start would find them. Once the log is empty they are gone.
   */
  #dropLeftovers(): boolean {
    this.#hasLeftovers = true
    try {
      this.#hasLeftovers = !truncateLog(this.#database)
    } catch (error) {
      if (rollbackReason(error) === undefined && !isLogIndexFull(error)) throw error
    }
    return !this.#hasLeftovers
  }

  #checkpoint(): void {
    if (this.#jobsSinceCheckpoint < options.checkpointJobs || this.#database.isTransaction) return
    this.#jobsSinceCheckpoint = 0
    try {
      this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)')
    } catch (error) {
      // A full disk or a busy file puts a checkpoint off: what it would copy stays in the log, durable.
      if (rollbackReason(error) === undefined) this.#stop(error)
    }
  }

  /** After a failed fsync a second one may wrongly succeed, so nothing is tried again: the process has to end. */
  #stop(error: unknown): void {
    this.#isBroken = true
    clearInterval(this.#watch)
    send({ kind: 'broken', error: this.#keepLog() ?? error })
  }

  /**
   * Has what the log holds found by the next start, although the log or the file has lost its name: both are still
   * open. The log is copied into the file. Where that fails, or a reader of an older moment is in the way, the log gets
   * its name back. A log that lost its index alone has its name, and all that was acknowledged: the next start reads it.
   *
   * @returns what is to be told when it could not be done.
   */
  #keepLog(): Error | undefined {
    const lost = this.#files.findLost()
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
      this.#runner.endImport()
      return truncateLog(this.#database)
    } catch {
      // A part of it may be in the file by now. With the log beside it the file is whole.
      return false
    }
  }
}

try {
  const writer = new Writer()
  port.on('message', (message: ToWriter) => writer.receive(message))
  send({ kind: 'opened', fileNames: writer.fileNames })
} catch (error) {
  const isLost = error instanceof LostFileError
  send({ kind: 'notOpened', why: explainOpenFailure(error, options.path).message, isLost })
  port.close()
}

function send(message: FromWriter): void {
  port.postMessage(message)
}
