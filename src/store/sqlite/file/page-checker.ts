// A process that checks the pages of a store: reads its path from stdin and writes the damage to stdout.

import { readFileSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { findPageDamage } from './page-damage.ts'

const [standardInput, standardOutput] = [0, 1]
const busyMsMax = 5_000

const path = readFileSync(standardInput, 'utf8')
writeSync(
  standardOutput,
  findPageDamage(() => new DatabaseSync(path, { readOnly: true, timeout: busyMsMax })),
)
