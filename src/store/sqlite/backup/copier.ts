// A process that copies a store and checks the copy: reads a task from stdin and writes the result to stdout, in JSON.

import { readFileSync, writeSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { OperatorError } from '../../../domain/errors.ts'
import { explainOpenFailure, openReadable, resultCode, sqliteResultCode } from '../file/database.ts'
import { copyDatabase, examine } from '../file/examine.ts'
import { findMissing } from '../file/lock.ts'
import { assertKept, identityOf } from '../file/names.ts'
import type { Copied, CopyTask } from './copying.ts'

const [standardInput, standardOutput] = [0, 1]

writeSync(standardOutput, JSON.stringify(await copy(JSON.parse(readFileSync(standardInput, 'utf8')))))

async function copy(task: CopyTask): Promise<Copied> {
  try {
    const missing = findMissing(task.store)
    if (missing !== undefined) throw new OperatorError(missing)
    const source = openSource(task)
    const identity = identityOf(task.store)
    try {
      copyDatabase(source, task.partial)
      // If the files were replaced, a restarted server may have overwritten the data read here.
      assertKept(task.store, identity)
    } catch (cause) {
      throw explainOpenFailure(cause, isOfReading(cause) ? task.store : task.file)
    } finally {
      source.close()
    }
    return { facts: await examine(task.partial, task.busyMsMax, task.store) }
  } catch (cause) {
    return { failure: explainOpenFailure(cause, task.file).message }
  }
}

/** Uses locks even if no process has the store open, because a server may start meanwhile. */
function openSource({ store, busyMsMax }: CopyTask): DatabaseSync {
  let source: DatabaseSync | undefined
  try {
    source = openReadable(store, busyMsMax)
    // Create the files beside the store now, so that a failure is not attributed to the copy.
    source.exec('SELECT count(*) FROM sqlite_schema')
    return source
  } catch (cause) {
    source?.close()
    throw explainOpenFailure(cause, store)
  }
}

/** Whether reading the store failed. After a successful read, any other error comes from writing the copy. */
function isOfReading(cause: unknown): boolean {
  const codes = [resultCode.corrupt, resultCode.notADatabase, resultCode.busy, resultCode.locked]
  return codes.some((each) => each === sqliteResultCode(cause))
}
