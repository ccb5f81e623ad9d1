// The row of a connection in `registrations`, by which is found out what became of a commit whose answer was lost.
//
// Each transaction of a connection locks the row, numbers it anew, and notes in it which of the ids it wanted were
// taken. A commit whose answer did not come is looked up by deleting the row: this waits for the transaction if it is
// still under way, tells whether it was done, and, as every transaction needs the row, keeps it from being done later.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../domain/clock.ts'
import { AppError } from '../../domain/errors.ts'
import type { StoreLimits } from '../engine.ts'
import type { Connection, Row, Statement } from './connections/connection.ts'
import { answerWithin } from './connections/deadline.ts'
import { failureOf, unknownOutcome } from './connections/failures.ts'
import { checkVersion } from './migrations.ts'

/** A connection's row. */
export interface Registration {
  readonly id: string
  readonly connection: Connection
  /** Number of the last transaction that is known to be committed. */
  lastCommit: bigint
}

/** What the row says of a transaction that was committed. */
export interface Committed {
  /** Ids that the transaction wanted to create and that were taken. */
  readonly takenIds: readonly bigint[]
}

export const begin = 'BEGIN ISOLATION LEVEL READ COMMITTED'
const withoutStandby = 'SET LOCAL synchronous_commit = local'
const register: Statement = {
  name: 'register',
  text: `INSERT INTO registrations (id, last_commit, taken_ids, registered_at_ms) VALUES ($1, 0, '{}', $2)`,
}
const renew: Statement = {
  name: 'renewRegistration',
  text: `UPDATE registrations SET id = $3, last_commit = 0, taken_ids = '{}', registered_at_ms = $4
    WHERE id = $1 AND last_commit = $2`,
}
const unregister: Statement = { name: 'unregister', text: 'DELETE FROM registrations WHERE id = $1' }
const readRow: Statement = {
  name: 'readRegistration',
  text: 'SELECT last_commit, taken_ids FROM registrations WHERE id = $1 FOR UPDATE',
}

/** Makes the row of a connection. Throws OperatorError when this program cannot go on with the tables. */
export async function registerConnection(connection: Connection, clock: Clock): Promise<Registration> {
  const id = randomUUID()
  await connection.sendTogether<unknown>(() => [
    beginOn(connection),
    // Under a lock, so that no migration that empties the table comes between this look and the row.
    checkVersion(connection, 'locked'),
    // It needs no standby: a row that is lost says that an outcome is not known.
    connection.command(withoutStandby),
    connection.query(register, [id, clock.wallMs()]),
    connection.command('COMMIT').then(assertCommitted),
  ])
  return { id, connection, lastCommit: 0n }
}

/**
 * Gives the row of a connection a new id, between two transactions. Each transaction leaves a version of the row behind,
 * and for as long as another client holds a snapshot, the search for an id goes through all versions with that id.
 *
 * An update, as a migration that empties the table waits for it and deletes the row under its new id, too.
 *
 * @returns undefined when the row is gone.
 */
export async function renewRegistration(
  { id, connection, lastCommit }: Registration,
  clock: Clock,
): Promise<Registration | undefined> {
  const newId = randomUUID()
  const [, , renewed] = await connection.sendTogether<unknown>(() => [
    beginOn(connection),
    connection.command(withoutStandby),
    connection.run(renew, [id, lastCommit, newId, clock.wallMs()]),
    connection.command('COMMIT').then(assertCommitted),
  ])
  const { rowCount } = renewed as { rowCount: number | null }
  return rowCount === 1 ? { id: newId, connection, lastCommit: 0n } : undefined
}

/** Deletes the row of a connection that is not needed any more. If that fails, the sweep deletes it later. */
export async function unregisterConnection({ id, connection }: Registration): Promise<void> {
  await connection
    .sendTogether<unknown>(() => [
      beginOn(connection),
      connection.command(withoutStandby),
      connection.query(unregister, [id]),
      connection.command('COMMIT'),
    ])
    .catch(() => {})
}

/** How a look-up gets to the database and for how long. */
export interface LookUpOptions {
  /** Opens a connection of its own: to wait for those of a whole session would take longer. */
  readonly open: () => Promise<Connection>
  readonly clock: Clock
  readonly limits: StoreLimits
  readonly deadlineMs: number
}

/**
 * What became of the transaction with a number, sent over the connection that a row belongs to: undefined when it was
 * not done, and never will be. Looks again and again until the deadline.
 *
 * @throws AppError `storeUnavailable` when that cannot be found out, `LostChanges` as its cause when the database has
 * forgotten what it confirmed.
 */
export async function lookUp(
  { id, lastCommit }: Registration,
  number: bigint,
  options: LookUpOptions,
): Promise<Committed | undefined> {
  const { clock, limits, deadlineMs } = options
  const readings: (Row | undefined)[] = []
  for (let isDone = false; !isDone; ) {
    try {
      await readAndDelete(id, options, readings)
      isDone = true
    } catch (error) {
      if (error instanceof AppError) throw error
      if (failureOf(error) === 'own' || clock.monotonicMs() >= deadlineMs) throw unknownOutcome(error)
      await sleep(limits.databaseRetryMs * Math.random())
    }
  }
  // A later reading may find the row deleted by an earlier one, whose answer was lost.
  const [found, takenIds = []] = (readings.findLast((row) => row !== undefined) ?? []) as [
    bigint?,
    (readonly bigint[])?,
  ]
  if (found === number) return { takenIds }
  if (found === lastCommit) return undefined
  throw unknownOutcome(
    found === undefined ? new Error('the database does not know the transaction') : new LostChanges(),
  )
}

/** The database is behind what it confirmed, as a standby is that took over without being synchronous. */
export class LostChanges extends Error {
  constructor() {
    super('the database has lost changes that it had confirmed, as after a failover to an asynchronous standby')
  }
}

/** @param readings takes what the row says before its deletion is sent. */
async function readAndDelete(
  id: string,
  { open, clock, deadlineMs }: LookUpOptions,
  readings: (Row | undefined)[],
): Promise<void> {
  const inTime = async <T>(answer: Promise<T>, orElse: () => void): Promise<T> => {
    const answered = await answerWithin(answer, Math.max(deadlineMs - clock.monotonicMs(), 0))
    if (answered !== undefined) return answered.value
    orElse()
    throw new Error('the database did not answer in time')
  }
  const opening = open()
  const abandon = (): void =>
    void opening.then(
      (connection) => connection.lose(new Error('too late')),
      () => {},
    )
  const connection = await inTime(opening, abandon)
  try {
    const reading = connection.sendTogether<unknown>(() => [beginOn(connection), connection.query(readRow, [id])])
    const [, rows] = await inTime(reading, abandon)
    readings.push((rows as readonly Row[])[0])
    // Where there is a standby, it has what the row tells of once it confirms this commit. The server asks it for a commit
    // that writes: a row that is made and deleted does, even when an earlier look-up has left nothing to delete.
    const proofId = randomUUID()
    const deletion = connection.sendTogether<unknown>(() => [
      connection.query(unregister, [id]),
      connection.query(register, [proofId, clock.wallMs()]),
      connection.query(unregister, [proofId]),
      connection.command('COMMIT').then(assertCommitted),
    ])
    await inTime(deletion, abandon)
    assertConfirmed(connection)
  } finally {
    // It says good-bye while the answer goes on its way.
    connection.close().catch(() => {})
  }
}

/**
 * Without its BEGIN what is sent behind it would be committed statement by statement: the connection is given up then.
 */
export async function beginOn(connection: Connection): Promise<void> {
  try {
    await connection.command(begin)
  } catch (cause) {
    connection.lose(cause)
    throw new Error('the transaction could not be started', { cause })
  }
}

export function assertCommitted(command: string): void {
  if (command !== 'COMMIT') throw new Error(`the transaction ended with ${command}`)
}

/** Fails when the wait for the standby was cancelled: what was committed is on one machine only. */
export function assertConfirmed(connection: Connection): void {
  if (connection.takeUnconfirmed()) throw unknownOutcome(new Error('the standby did not confirm the change'))
}
