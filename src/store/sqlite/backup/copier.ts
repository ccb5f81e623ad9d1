// A process that copies a store and checks the copy: takes a task on its input and writes what came of it, as JSON.

import { readFileSync, writeSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { OperatorError } from '../../../domain/errors.ts'
import { explainOpenFailure, openReadable, resultCode, sqliteResultCode } from '../file/database.ts'
import { copyDatabase, examine } from '../file/examine.ts'
import { FileIdentity, namesOf, suffixes } from '../file/identity.ts'
import { findMissing } from '../file/in-use.ts'
import type { Copied, CopyTask } from './copying.ts'

const [standardInput, standardOutput] = [0, 1]

writeSync(standardOutput, JSON.stringify(await copy(JSON.parse(readFileSync(standardInput, 'utf8')))))

async function copy(task: CopyTask): Promise<Copied> {
  try {
    const missing = findMissing(task.store)
    if (missing !== undefined) throw new OperatorError(missing)
    const source = openSource(task)
    const files = new FileIdentity(task.store, namesOf(task.store, suffixes))
    try {
      copyDatabase(source, task.partial)
      // A server that was started anew without them may have overwritten what was read.
      files.check()
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

/** With locks, even where no process has the store open: a server may be started meanwhile. */
function openSource({ store, busyMsMax }: CopyTask): DatabaseSync {
  let source: DatabaseSync | undefined
  try {
    source = openReadable(store, busyMsMax)
    // What is made beside a store to read it is made now, so that a failure of that is not taken for one of the copy.
    source.exec('SELECT count(*) FROM sqlite_schema')
    return source
  } catch (cause) {
    source?.close()
    throw explainOpenFailure(cause, store)
  }
}

/** A page that cannot be read counts as damaged; what fails otherwise, once a store was read, is to write. */
function isOfReading(cause: unknown): boolean {
  const codes = [resultCode.corrupt, resultCode.notADatabase, resultCode.busy, resultCode.locked]
  return codes.some((each) => each === sqliteResultCode(cause))
}
