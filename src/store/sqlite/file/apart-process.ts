// A process that does a task of apart.ts: reads it from stdin and writes the result to stdout, in JSON.

import { readFileSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { messageOf, OperatorError } from '../../../domain/errors.ts'
import type { FileFacts } from '../../engine.ts'
import type { CopyTask, Finished, Task } from './apart.ts'
import { explainOpenFailure, hasFailed, openReadable } from './database.ts'
import { copyDatabase, examine, findPageDamage } from './examine.ts'
import { findMissing } from './lock.ts'
import { assertKept, identityOf } from './names.ts'

const [standardInput, standardOutput] = [0, 1]
const pageCheckBusyMsMax = 5_000

writeSync(standardOutput, JSON.stringify(await finish(JSON.parse(readFileSync(standardInput, 'utf8')))))

async function finish(task: Task): Promise<Finished> {
  try {
    if (task.kind === 'copy') return { result: await copy(task) }
    const open = (): DatabaseSync => new DatabaseSync(task.path, { readOnly: true, timeout: pageCheckBusyMsMax })
    return { result: findPageDamage(open) }
  } catch (cause) {
    return { failure: messageOf(cause) }
  }
}

async function copy({ store, partial, file, busyMsMax }: CopyTask): Promise<FileFacts> {
  try {
    const missing = findMissing(store)
    if (missing !== undefined) throw new OperatorError(missing)
    const source = openSource(store, busyMsMax)
    const identity = identityOf(store)
    try {
      copyDatabase(source, partial)
      // If the files were replaced, a restarted server may have overwritten the data read here.
      assertKept(store, identity)
    } catch (cause) {
      // After a successful read, any other error comes from writing the copy.
      const isOfReading = hasFailed(cause, 'corrupt', 'notADatabase', 'busy', 'locked')
      throw explainOpenFailure(cause, isOfReading ? store : file)
    } finally {
      source.close()
    }
    return await examine(partial, busyMsMax, store)
  } catch (cause) {
    throw explainOpenFailure(cause, file)
  }
}

/** Uses locks even if no process has the store open, because a server may start meanwhile. */
function openSource(store: string, busyMsMax: number): DatabaseSync {
  try {
    using opened = new DisposableStack()
    const source = opened.use(openReadable(store, busyMsMax))
    // Create the files beside the store now, so that a failure is not attributed to the copy.
    source.exec('SELECT count(*) FROM sqlite_schema')
    opened.move()
    return source
  } catch (cause) {
    throw explainOpenFailure(cause, store)
  }
}
