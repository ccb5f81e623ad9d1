// Starts one PostgreSQL for the whole test run, unless DATABASE_URL names one.

import { inspect } from 'node:util'
import { type Database, makeTemplate, startDatabase } from './postgres.ts'

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
}
