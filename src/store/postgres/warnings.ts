// Warns of PostgreSQL settings that make commits less durable.

import type { Connection } from './connections/connection.ts'

/** One line for each unsafe setting; none if the server does not reveal its settings. */
export async function warningsOf(connection: Connection): Promise<readonly string[]> {
  const rows = await connection.query({
    name: 'readSettings',
    text: `SELECT name, setting FROM pg_settings
      WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names')`,
  })
  const settings = new Map(rows as unknown as readonly [string, string][])
  const warnings: string[] = []
  if (settings.get('fsync') === 'off') {
    warnings.push(
      'the database has fsync = off: confirmed plants are lost or damaged when its machine fails; turn it on',
    )
  }
  if (settings.get('full_page_writes') === 'off') {
    warnings.push('the database has full_page_writes = off: it may be damaged when its machine fails; turn it on')
  }
  const commit = settings.get('synchronous_commit')
  if (commit === 'off') {
    warnings.push('the database has synchronous_commit = off: confirmed plants are lost when it crashes; turn it on')
  }
  const hasStandbys = (settings.get('synchronous_standby_names') ?? '') !== ''
  if (hasStandbys && (commit === 'local' || commit === 'remote_write')) {
    warnings.push(
      `the database has synchronous_commit = ${commit}: confirmed plants may be lost when a standby takes over; set it to on`,
    )
  }
  return warnings
}
