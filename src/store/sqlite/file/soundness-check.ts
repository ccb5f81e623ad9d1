// A process that checks the pages of a store: reads its path from stdin and writes a verdict in JSON to stdout.

import { readFileSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { quickCheck } from './quick-check.ts'

const [standardInput, standardOutput] = [0, 1]
const busyMsMax = 5_000

const path = readFileSync(standardInput, 'utf8')
const verdict = quickCheck(() => new DatabaseSync(path, { readOnly: true, timeout: busyMsMax }))
writeSync(standardOutput, JSON.stringify(verdict))
