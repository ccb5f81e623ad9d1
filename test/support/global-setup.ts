// Starts one PostgreSQL for the whole test run, unless DATABASE_URL names one, and reports the run's CPU time.

import { readFileSync } from 'node:fs'
import { platform } from 'node:os'
import { inspect } from 'node:util'
import { type Database, makeTemplate, startDatabase } from './postgres.ts'

/** Machines differ. */
const roomForMore = 1.15

let template: AsyncDisposable | undefined
let database: Database | undefined

export async function globalSetup(): Promise<void> {
  try {
    template = await makeTemplate()
    database = await startDatabase()
  } catch (cause) {
    // Node.js would end without a word, with status 0.
    process.stderr.write(`No test was run, as no PostgreSQL could be started: ${inspect(cause)}\n`)
    process.exit(1)
  }
  process.stdout.write(`Tests of PostgreSQL run on ${database.name}\n`)
  process.env['DATABASE_URL'] = database.url
}

export async function globalTeardown(): Promise<void> {
  await database?.[Symbol.asyncDispose]()
  await template?.[Symbol.asyncDispose]()
  reportCpuSeconds()
}

/** Weight is a defect: warns if `npm test` takes more CPU time than CONTRIBUTING.md says. */
function reportCpuSeconds(): void {
  const usual = Number(process.env['TEST_CPU_SECONDS'])
  if (platform() !== 'linux' || !(usual > 0)) return
  // proc_pid_stat(5): fields 14 to 17 are this process and its children, in hundredths of a second.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ').slice(11, 15) ?? []
  const seconds = fields.reduce((sum, field) => sum + Number(field), 0) / 100
  const warning = seconds > usual * roomForMore ? `: more than the ${usual} in CONTRIBUTING.md, find out why` : ''
  process.stdout.write(`${seconds.toFixed(0)} CPU seconds${warning}\n`)
}
