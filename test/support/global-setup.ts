// Starts one PostgreSQL for the whole test run, unless DATABASE_URL names one.

import { type Database, startDatabase } from './postgres.ts'

let database: Database | undefined

export async function globalSetup(): Promise<void> {
  database = await startDatabase()
  process.stdout.write(`Tests of PostgreSQL run on ${database.name}\n`)
  process.env['DATABASE_URL'] = database.url
}

export async function globalTeardown(): Promise<void> {
  await database?.[Symbol.asyncDispose]()
}
