// A process that looks through the pages of a store: takes the path on its input and writes a verdict, as JSON.

import { readFileSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { quickCheck } from './quick-check.ts'

const [standardInput, standardOutput] = [0, 1]
const busyMsMax = 5_000

const path = readFileSync(standardInput, 'utf8')
const verdict = quickCheck(() => new DatabaseSync(path, { readOnly: true, timeout: busyMsMax }))
writeSync(standardOutput, JSON.stringify(verdict))
