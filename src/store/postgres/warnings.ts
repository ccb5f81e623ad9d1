// Warns of PostgreSQL settings that make commits less durable.

import type { Connection } from './connections/connection.ts'

const takeOver = 'confirmed plants may be lost when a standby takes over; set it to on'
const wrongSettings: readonly (readonly [name: string, setting: string, what: string])[] = [
  ['fsync', 'off', 'confirmed plants are lost or damaged when its machine fails; turn it on'],
  ['full_page_writes', 'off', 'it may be damaged when its machine fails; turn it on'],
  ['synchronous_commit', 'off', 'confirmed plants are lost when it crashes; turn it on'],
]
const wrongWithStandbys: typeof wrongSettings = [
  ['synchronous_commit', 'local', takeOver],
  ['synchronous_commit', 'remote_write', takeOver],
]

/** One line for each unsafe setting; none if the server does not reveal its settings. */
export async function warningsOf(connection: Connection): Promise<readonly string[]> {
  const rows = await connection.query({
    name: 'readSettings',
    text: `SELECT name, setting FROM pg_settings
      WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names')`,
  })
  const settings = new Map(rows as unknown as readonly [string, string][])
  const hasStandbys = (settings.get('synchronous_standby_names') ?? '') !== ''
  return [...wrongSettings, ...(hasStandbys ? wrongWithStandbys : [])]
    .filter(([name, setting]) => settings.get(name) === setting)
    .map(([name, setting, what]) => `the database has ${name} = ${setting}: ${what}`)
}
