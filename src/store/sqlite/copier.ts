// A process that copies a store and checks the copy: takes a task on its input and writes what came of it, as JSON.

import { readFileSync, writeSync } from 'node:fs'
import type { Copied, CopyTask } from './copying.ts'
import { explainOpenFailure, openReadable } from './database.ts'
import { copyDatabase, examine } from './examine.ts'

const [standardInput, standardOutput] = [0, 1]

writeSync(standardOutput, JSON.stringify(await copy(JSON.parse(readFileSync(standardInput, 'utf8')))))

async function copy({ store, partial, file, busyMsMax }: CopyTask): Promise<Copied> {
  try {
    // With locks, even where nobody has the store open: a server may be started meanwhile.
    const source = openReadable(store, busyMsMax)
    try {
      copyDatabase(source, partial)
    } finally {
      source.close()
    }
    return { facts: await examine(partial, busyMsMax, store) }
  } catch (cause) {
    return { failure: explainOpenFailure(cause, file).message }
  }
}
