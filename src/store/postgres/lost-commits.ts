// The outcome of a commit whose answer was lost.
//
// Each transaction chooses an id, and inserts a row with it into the log of changes. To look up a commit, another
// connection inserts a row with the same id. That waits for a pending transaction, and shows whether it committed. If it
// did not, it never will, because ids are unique. A missing row shows that only until it may have been swept: the clock
// of the database alone decides on that.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../domain/errors.ts'
import type { DatabaseOptions } from './connections/address.ts'
import { answerWithin, named, openForBulk } from './connections/connection.ts'
import { failureOf, unknownOutcome } from './connections/failures.ts'
import { nowMs } from './connections/tables.ts'

const statements = named({
  /** Writes even if the row exists: once a standby confirms this commit, it also has the transaction of the row. */
  close: `INSERT INTO changes (id, changes, at_ms, lines) VALUES ($1, -1, ${nowMs}, '')
    ON CONFLICT (id) DO UPDATE SET at_ms = changes.at_ms RETURNING changes.changes, ${nowMs}`,
})

/** The id of a new row of the log: a UUID that begins with the time, so that the index grows at its end (RFC 9562). */
export function makeRowId(atMs: number): string {
  const time = atMs.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

/**
 * Looks up whether a transaction committed whose answer was lost. If it did not, it never will. Retries until the
 * deadline, by the monotonic clock.
 *
 * @throws AppError `storeUnavailable` if the outcome is unknown.
 */
export async function lookUp(id: string, options: DatabaseOptions, deadlineMs: number): Promise<boolean> {
  const { clock, limits } = options
  for (;;) {
    try {
      return await close(id, options, deadlineMs)
    } catch (error) {
      if (error instanceof AppError) throw error
      if (failureOf(error) === 'own' || clock.monotonicMs() >= deadlineMs) throw unknownOutcome(error)
      await sleep(limits.databaseRetryMs * Math.random())
    }
  }
}

async function close(id: string, options: DatabaseOptions, deadlineMs: number): Promise<boolean> {
  const { clock, limits } = options
  // A separate connection is faster than waiting for a new session.
  const opening = openForBulk(options)
  const closing = opening.then((connection) => connection.query(statements.close, [id]))
  try {
    const answer = await answerWithin(closing, Math.max(deadlineMs - clock.monotonicMs(), 0))
    const [row] = answer?.value ?? []
    if (row === undefined) throw new Error('the database did not answer in time')
    const connection = await opening
    connection.assertConfirmed()
    if (Number(row[0]) >= 0) return true
    // The time of the id (`makeRowId`).
    const ageMs = Number(row[1]) - parseInt(id.replace('-', ''), 16)
    if (ageMs < limits.changesKeptMsMin) return false
    throw unknownOutcome(new Error('its row may have been swept; check the clocks of this server and the database'))
  } finally {
    // Close in the background.
    opening.then((connection) => connection.close()).catch(() => {})
  }
}
