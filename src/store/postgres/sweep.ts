// Deletes what nothing needs any more: expired Idempotency-Keys, and the rows of connections of servers that have died.

import type { Connection, Statement } from './connections/connection.ts'

/** A key that is renewed while this waits for its row stays: the last condition is checked again on the new version. */
const sweepKeys: Statement = {
  name: 'sweepKeys',
  text: `DELETE FROM idempotency_keys WHERE (caller_id, key) IN (
      SELECT caller_id, key FROM idempotency_keys WHERE created_at_ms BETWEEN $1 AND $2 ORDER BY created_at_ms LIMIT $3)
    AND created_at_ms <= $2 RETURNING created_at_ms`,
}
/** Those of servers that are still there, and wait for a commit just now, are left alone. */
const sweepRegistrations: Statement = {
  name: 'sweepRegistrations',
  text: `DELETE FROM registrations
    WHERE id IN (SELECT id FROM registrations WHERE registered_at_ms <= $1 FOR UPDATE SKIP LOCKED)
      AND registered_at_ms <= $1`,
}

/** Deletes keys and registrations that were made at or before the given moments, in ms since 1970. */
export async function sweep(
  connection: Connection,
  {
    keysMs,
    registrationsMs,
    keysPerStatement,
  }: Readonly<Record<'keysMs' | 'registrationsMs' | 'keysPerStatement', number>>,
): Promise<void> {
  // It waits neither for standbys nor for other servers' sweeps.
  await connection.command('SET synchronous_commit = local')
  // While another client holds a snapshot, the index keeps the keys that are deleted: each statement goes on behind them.
  let fromMs = 0n
  for (let isLast = false; !isLast; ) {
    const deleted = await connection.query(sweepKeys, [fromMs, keysMs, keysPerStatement])
    for (const [createdAtMs] of deleted as readonly [bigint][]) if (createdAtMs > fromMs) fromMs = createdAtMs
    isLast = deleted.length < keysPerStatement
  }
  await connection.query(sweepRegistrations, [registrationsMs])
}
