// The row of a connection in `registrations`, which shows the outcome of a commit whose answer was lost; and the
// deletion of the rows of crashed servers, and of expired Idempotency-Keys.
//
// Each transaction of a connection locks its row, increments the row's number, and records which of its ids were taken.
// To look up a commit, another connection deletes the row. The deletion waits for a pending transaction, and shows
// whether it committed. Since every transaction needs the row, none can commit afterwards.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../domain/clock.ts'
import { AppError } from '../../domain/errors.ts'
import type { DatabaseOptions } from './connections/address.ts'
import { answerWithin, type Connection, named, openForBulk, type Row, written } from './connections/connection.ts'
import { failureOf, unknownOutcome } from './connections/failures.ts'
import { checkVersion } from './connections/tables.ts'

/** A connection's row. */
export interface Registration {
  readonly id: string
  readonly connection: Connection
  /** Number of the last transaction known to be committed. */
  lastCommit: bigint
}

const withoutStandby = 'SET LOCAL synchronous_commit = local'
const statements = named({
  register: `INSERT INTO registrations (id, last_commit, taken_ids, registered_at_ms) VALUES ($1, 0, '{}', $2)`,
  renew: written(`UPDATE registrations SET id = $1, last_commit = 0, taken_ids = '{}', registered_at_ms = $2
    WHERE id = $3 AND last_commit = $4`),
  unregister: 'DELETE FROM registrations WHERE id = $1',
  readRegistration: 'SELECT last_commit, taken_ids FROM registrations WHERE id = $1 FOR UPDATE',
  /** Keeps a key that is renewed while this waits for its row: the last condition is rechecked on the new version. */
  sweepKeys: `DELETE FROM idempotency_keys WHERE (caller_id, key) IN (
      SELECT caller_id, key FROM idempotency_keys WHERE created_at_ms BETWEEN $1 AND $2 ORDER BY created_at_ms LIMIT $3)
    AND created_at_ms <= $2 RETURNING created_at_ms`,
  /** Skips the locked rows of live servers with a pending commit. */
  sweepRegistrations: `DELETE FROM registrations
    WHERE id IN (SELECT id FROM registrations WHERE registered_at_ms <= $1 FOR UPDATE SKIP LOCKED)
      AND registered_at_ms <= $1`,
})

/**
 * Creates the row of a connection, or changes its id: each transaction leaves a version of the row behind, and while
 * another client holds a snapshot, every search for an id reads all versions that have it.
 *
 * @throws OperatorError if this program cannot use the version of the tables; the failure `unwritten` if the row whose id
 * is to be changed is gone.
 */
export async function registerConnection(
  connection: Connection,
  clock: Clock,
  former?: Registration,
): Promise<Registration> {
  const id = randomUUID()
  const values = [id, clock.wallMs()]
  await connection.sendTogether(() => [
    connection.begin(),
    // No need to wait for a standby: a lost row means an unknown outcome.
    connection.command(withoutStandby),
    ...(former === undefined
      ? // The lock keeps a migration from emptying the table between this check and the insertion.
        [checkVersion(connection, undefined, 'locked'), connection.query(statements.register, values)]
      : // A migration that empties the table deletes this row, too. It would not see a new one.
        [connection.query(statements.renew, [...values, former.id, former.lastCommit])]),
    connection.commit(),
  ])
  return { id, connection, lastCommit: 0n }
}

/** Deletes the row of a connection. If that fails, the sweep deletes it later. */
export async function unregisterConnection({ id, connection }: Registration): Promise<void> {
  await connection
    .sendTogether(() => [
      connection.begin(),
      connection.command(withoutStandby),
      connection.query(statements.unregister, [id]),
      connection.commit(),
    ])
    .catch(() => {})
}

/**
 * Looks up whether the transaction of a connection committed whose answer was lost. Retries until the deadline.
 *
 * @returns the ids that the transaction tried to create but that were taken; undefined if it did not commit and never
 * will.
 * @throws AppError `storeUnavailable` if the outcome is unknown, with the cause `LostChanges` if the database lost
 * confirmed changes.
 */
export async function lookUp(
  { id, lastCommit }: Registration,
  options: DatabaseOptions,
  deadlineMs: number,
): Promise<readonly bigint[] | undefined> {
  const { clock, limits } = options
  const readings: (Row | undefined)[] = []
  for (let isDone = false; !isDone; ) {
    try {
      await readAndDelete(id, options, deadlineMs, readings)
      isDone = true
    } catch (error) {
      if (error instanceof AppError) throw error
      if (failureOf(error) === 'own' || clock.monotonicMs() >= deadlineMs) throw unknownOutcome(error)
      await sleep(limits.databaseRetryMs * Math.random())
    }
  }
  // An earlier attempt may have deleted the row before its answer was lost.
  const [found, takenIds = []] = (readings.findLast((row) => row !== undefined) ?? []) as [
    bigint?,
    (readonly bigint[])?,
  ]
  if (found === lastCommit + 1n) return takenIds
  if (found === lastCommit) return undefined
  throw unknownOutcome(
    found === undefined ? new Error('the database does not know the transaction') : new LostChanges(),
  )
}

/** The database lost confirmed changes, for example in a failover to an asynchronous standby. */
export class LostChanges extends Error {
  constructor() {
    super('the database has lost confirmed changes, for example in a failover to an asynchronous standby')
  }
}

/** @param readings receives the content of the row before the deletion is sent. */
async function readAndDelete(
  id: string,
  options: DatabaseOptions,
  deadlineMs: number,
  readings: (Row | undefined)[],
): Promise<void> {
  const { clock } = options
  // A separate connection is faster than waiting for a new session.
  const opening = openForBulk(options)
  const inTime = async <T>(answer: Promise<T>): Promise<T> => {
    const answered = await answerWithin(answer, Math.max(deadlineMs - clock.monotonicMs(), 0))
    if (answered !== undefined) return answered.value
    const late = new Error('the database did not answer in time')
    opening.then(
      (connection) => connection.lose(late),
      () => {},
    )
    throw late
  }
  const connection = await inTime(opening)
  try {
    const reading = connection.sendTogether(() => [
      connection.begin(),
      connection.query(statements.readRegistration, [id]),
    ])
    const [, [row]] = await inTime(reading)
    readings.push(row)
    // Once a standby confirms this commit, it also has the transaction that the row records. The server waits for a
    // standby only if the commit writes. The second row ensures that, even if an earlier look-up deleted the first.
    const proofId = randomUUID()
    const deletion = connection.sendTogether(() => [
      connection.query(statements.unregister, [id]),
      connection.query(statements.register, [proofId, clock.wallMs()]),
      connection.query(statements.unregister, [proofId]),
      connection.commit(),
    ])
    await inTime(deletion)
    connection.assertConfirmed()
  } finally {
    // Close in the background.
    connection.close().catch(() => {})
  }
}

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
    // While another client holds a snapshot, deleted keys stay in the index, so each statement starts after them.
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
