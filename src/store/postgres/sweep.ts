// Deletes expired Idempotency-Keys, and the registrations of crashed servers.

import { type Connection, named } from './connections/connection.ts'

const statements = named({
  /** Keeps a key that is renewed while this waits for its row: the last condition is rechecked on the new version. */
  sweepKeys: `DELETE FROM idempotency_keys WHERE (caller_id, key) IN (
      SELECT caller_id, key FROM idempotency_keys WHERE created_at_ms BETWEEN $1 AND $2 ORDER BY created_at_ms LIMIT $3)
    AND created_at_ms <= $2 RETURNING created_at_ms`,
  /** Skips the locked rows of live servers with a pending commit. */
  sweepRegistrations: `DELETE FROM registrations
    WHERE id IN (SELECT id FROM registrations WHERE registered_at_ms <= $1 FOR UPDATE SKIP LOCKED)
      AND registered_at_ms <= $1`,
})

/** Deletes keys and registrations created at or before the given times, in ms since 1970. */
export async function sweep(
  connection: Connection,
  {
    keysMs,
    registrationsMs,
    keysPerStatement,
  }: Readonly<Record<'keysMs' | 'registrationsMs' | 'keysPerStatement', number>>,
): Promise<void> {
  // A lost deletion is harmless, so do not wait for standbys.
  await connection.command('SET synchronous_commit = local')
  // While another client holds a snapshot, deleted keys stay in the index, so each statement starts behind them.
  let fromMs = 0n
  for (let isLast = false; !isLast; ) {
    const deleted = await connection.query(statements.sweepKeys, [fromMs, keysMs, keysPerStatement])
    for (const [createdAtMs] of deleted as readonly [bigint][]) if (createdAtMs > fromMs) fromMs = createdAtMs
    isLast = deleted.length < keysPerStatement
  }
  await connection.query(statements.sweepRegistrations, [registrationsMs])
}
