// The writer thread: the one connection that writes. It takes a group of jobs, commits it, and only then answers.

import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { explainOpenFailure, openWritable } from './database.ts'
import type { FromWriter, ToWriter, WriterOptions } from './messages.ts'
import { rollbackReason, TransactionRunner } from './transaction.ts'

if (isMainThread || parentPort === null) throw new TypeError('writer.ts runs in a worker thread')

const options: WriterOptions = workerData
const port = parentPort

try {
  const database = openWritable(options.path, options.storeBusyMsMax)
  const runner = new TransactionRunner(database, options.idempotencyKeyMs)
  let jobsSinceCheckpoint = 0
  let isBroken = false

  /** After a failed fsync a second one may wrongly succeed, so nothing is tried again: the process has to end. */
  const stop = (error: unknown): void => {
    isBroken = true
    send({ kind: 'broken', error })
  }

  const run = (message: Exclude<ToWriter, { kind: 'close' }>): FromWriter => {
    switch (message.kind) {
      case 'commit':
        jobsSinceCheckpoint += message.jobs.length
        return { kind: 'committed', outcomes: runner.run(message.jobs) }
      case 'importPlants':
        jobsSinceCheckpoint += message.plants.length
        return { kind: 'imported', outcomes: runner.importPlants(message.plants, message.onConflict) }
      case 'commitImport':
        runner.commitImport()
        return { kind: 'imported', outcomes: [] }
      case 'endImport':
        runner.endImport()
        return { kind: 'imported', outcomes: [] }
    }
  }

  port.on('message', (message: ToWriter) => {
    if (isBroken) return
    if (message.kind === 'close') {
      database.close()
      port.close()
      return
    }
    try {
      send(run(message))
    } catch (error) {
      const code = rollbackReason(error)
      if (code !== undefined) runner.endImport()
      if (code === undefined) stop(error)
      else send({ kind: 'refused', code, error })
      return
    }
    if (jobsSinceCheckpoint < options.checkpointJobs || database.isTransaction) return
    jobsSinceCheckpoint = 0
    try {
      database.exec('PRAGMA wal_checkpoint(PASSIVE)')
    } catch (error) {
      // A full disk or a busy file puts a checkpoint off: what it would carry over stays in the log, durable.
      if (rollbackReason(error) === undefined) stop(error)
    }
  })
  send({ kind: 'opened' })
} catch (error) {
  send({ kind: 'notOpened', why: explainOpenFailure(error, options.path).message })
  port.close()
}

function send(message: FromWriter): void {
  port.postMessage(message)
}
