// A process that does a task of apart.ts: reads it from stdin and writes the result to stdout, in JSON.

import { readFileSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { messageOf, OperatorError } from '../../../domain/errors.ts'
import type { FileFacts } from '../../engine.ts'
import type { Finished, Task } from './apart.ts'
import { explainOpenFailure, hasFailed, openReadable } from './database.ts'
import { copyDatabase, examine, findPageDamage } from './examine.ts'
import { assertKept, findMissing, identityOf } from './names.ts'

const [standardInput, standardOutput] = [0, 1]
const pageCheckBusyMsMax = 5_000

writeSync(standardOutput, JSON.stringify(await finish(JSON.parse(readFileSync(standardInput, 'utf8')))))

async function finish(task: Task): Promise<Finished> {
  try {
    if (task.kind === 'copy') return { result: await copy(task) }
    return {
      result: findPageDamage(() => new DatabaseSync(task.path, { readOnly: true, timeout: pageCheckBusyMsMax })),
    }
  } catch (cause) {
    return { failure: messageOf(cause) }
  }
}

async function copy({ store, partial, file, busyMsMax }: Task & { readonly kind: 'copy' }): Promise<FileFacts> {
  const missing = findMissing(store)
  if (missing !== undefined) throw new OperatorError(missing)
  let isRead = false
  try {
    // Use locks even if no process has the store open, because a server may start meanwhile.
    using source = openReadable(store, busyMsMax)
    // Create the files beside the store now, so that a failure is not attributed to the copy.
    source.exec('SELECT count(*) FROM sqlite_schema')
    isRead = true
    const identity = identityOf(store)
    copyDatabase(source, partial)
    // If the files were replaced, a restarted server may have overwritten the data read here.
    assertKept(store, identity)
  } catch (cause) {
    // After a successful read, any other error comes from writing the copy.
    const isOfReading = !isRead || hasFailed(cause, 'corrupt', 'notADatabase', 'busy', 'locked')
    throw explainOpenFailure(cause, isOfReading ? store : file)
  }
  return examine(partial, busyMsMax, store)
}
