// A process that looks through the pages of a store: takes the path on its input and writes a verdict, as JSON.

import { readFileSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { Verdict } from './soundness.ts'

const [standardInput, standardOutput] = [0, 1]
const busyMsMax = 5_000
const corrupt = 11
const notADatabase = 26

const path = readFileSync(standardInput, 'utf8')
writeSync(standardOutput, JSON.stringify(judge(path)))

function judge(path: string): Verdict {
  try {
    using database = new DatabaseSync(path, { readOnly: true, timeout: busyMsMax })
    const problem = String(database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'])
    return problem === 'ok' ? { kind: 'sound' } : { kind: 'damaged', problem: problem.replaceAll(/\s*\n\s*/g, ' ') }
  } catch (error) {
    // Whatever else stands in the way, as a file that is gone, says nothing about the store.
    const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined
    if (code !== corrupt && code !== notADatabase) return { kind: 'unknown' }
    return { kind: 'damaged', problem: error instanceof Error ? error.message : String(error) }
  }
}
