// Empties a store beside its server, for tests that begin anew.

import { DatabaseSync } from 'node:sqlite'

/** Deletes all plants and idempotency keys of a store, in one transaction; its tokens stay. */
export function emptyStore(path: string, busyMsMax: number): void {
  const database = new DatabaseSync(path, { timeout: busyMsMax })
  try {
    database.exec('BEGIN IMMEDIATE')
    for (const table of ['plants', 'plant_counts', 'idempotency_keys']) database.exec(`DELETE FROM ${table}`)
    database.exec('COMMIT')
  } finally {
    // Beside a server the last one to close is never this one, so that the log stays.
    database.close()
  }
}
