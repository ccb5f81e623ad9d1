// Deletes expired Idempotency-Keys, and the registrations of crashed servers.

import { setTimeout as sleep } from 'node:timers/promises'
import type { DatabaseOptions } from './connections/address.ts'
import { named, openForBulk } from './connections/connection.ts'

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

/** Sweeps at intervals, with jitter, until `closing` is aborted. */
export async function sweepUntil(closing: AbortSignal, options: DatabaseOptions): Promise<void> {
  while (!closing.aborted) {
    const pauseMs = options.limits.expiredKeysSweepMs * (0.5 + Math.random())
    await sleep(pauseMs, undefined, { signal: closing }).catch(() => {})
    // Expired rows do no harm, so a failed sweep can wait for the next one.
    if (!closing.aborted) await sweep(closing, options).catch(() => {})
  }
}

async function sweep(closing: AbortSignal, options: DatabaseOptions): Promise<void> {
  const { idempotencyKeyMs, registrationMsMax, expiredKeysSwept } = options.limits
  const nowMs = options.clock.wallMs()
  await using connection = await openForBulk(options)
  const stop = (): void => connection.lose(new Error('the store is closed'))
  closing.addEventListener('abort', stop)
  if (closing.aborted) stop()
  try {
    // A lost deletion is harmless, so do not wait for standbys.
    await connection.command('SET synchronous_commit = local')
    // While another client holds a snapshot, deleted keys stay in the index, so each statement starts behind them.
    let fromMs = 0n
    for (let isLast = false; !isLast; ) {
      const values = [fromMs, nowMs - idempotencyKeyMs, expiredKeysSwept]
      const deleted = await connection.query(statements.sweepKeys, values)
      for (const [createdAtMs] of deleted as readonly [bigint][]) if (createdAtMs > fromMs) fromMs = createdAtMs
      isLast = deleted.length < expiredKeysSwept
    }
    await connection.query(statements.sweepRegistrations, [nowMs - registrationMsMax])
  } finally {
    closing.removeEventListener('abort', stop)
  }
}
