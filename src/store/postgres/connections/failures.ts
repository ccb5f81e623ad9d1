// Classifies failures of PostgreSQL.

import pg from 'pg'
import { AppError, type ErrorCode, messageOf, OperatorError } from '../../../domain/errors.ts'

/**
 * - `lost`: the connection is unusable; the outcome is unknown.
 *
 * For all others, nothing was done:
 *
 * - `retry`: a conflict with another transaction.
 * - `locked`: another transaction holds a lock on a required row or table.
 * - `unwritten`: written rows are missing, because a trigger skipped them or another session deleted them.
 * - `full`, `busy`: an immediate retry would not help.
 * - `unusable`: the tables are missing, or access to them is denied.
 * - `own`: the statement itself is invalid.
 */
export type Failure = 'lost' | 'retry' | 'locked' | 'unwritten' | 'full' | 'busy' | 'unusable' | 'own'

/** Failures by error code prefix (postgresql.org/docs/current/errcodes-appendix.html); the first match counts. */
const failures: readonly (readonly [string, Failure])[] = [
  // Unknown outcome, reported by distributed databases.
  ['40003', 'lost'],
  ['08', 'lost'],
  // The server is shutting down, crashed or starting, or the database was dropped.
  ['57P', 'lost'],
  // Read-only: the server is a standby, or has become one.
  ['25006', 'lost'],
  ['53300', 'lost'],
  // An earlier request failed to prepare the statement, usually because of a lock; a retry prepares it again.
  ['26000', 'retry'],
  ['42P05', 'retry'],
  ['22P02', 'unwritten'],
  ['40', 'retry'],
  ['23505', 'retry'],
  ['53100', 'full'],
  ['53', 'busy'],
  ['57014', 'busy'],
  ['55P03', 'locked'],
  ['42P01', 'unusable'],
  ['42703', 'unusable'],
  ['42501', 'unusable'],
  ['3F000', 'unusable'],
  ['58030', 'busy'],
]

/** Classifies the error of a query. */
export function failureOf(error: unknown): Failure {
  if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError) return 'own'
  const { code, severity, routine } = serverErrorOf(error)
  if (code === undefined || severity === 'FATAL' || severity === 'PANIC') return 'lost'
  // A prepared statement no longer matches the tables; a new connection prepares it again.
  if (routine === 'RevalidateCachedQuery') return 'lost'
  return failures.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 'own'
}

/** Another transaction holds a lock that a job of the batch needs. */
export class Locked extends Error {
  constructor(cause: unknown) {
    super('a row is locked by another transaction', { cause })
  }
}

const refusals: Partial<Record<Failure, readonly [code: ErrorCode, message: string]>> = {
  unusable: ['storeAway', 'the tables of the database cannot be used; nothing was done, try again'],
  full: ['storeFull', 'the disk of the database is full; nothing was done'],
}

/** The error for a change or a read that PostgreSQL did not perform. */
export function refusalOf(failure: Exclude<Failure, 'lost' | 'own'>, cause: unknown): AppError {
  const [code, message] = refusals[failure] ?? ['overloaded', 'the database is busy; nothing was done, try again']
  return new AppError(code, message, { cause })
}

/**
 * The error for a change whose outcome is unknown: the database has not answered in time, no standby has confirmed the
 * commit, or the answer was lost and the look-up failed, too.
 */
export function unknownOutcome(cause: unknown): AppError {
  const message = 'the database did not confirm this request; it may or may not have been done'
  return new AppError('storeUnavailable', message, { cause })
}

export function explainConnectFailure(cause: unknown, place: string): OperatorError {
  if (cause instanceof OperatorError) return cause
  const whatToDo = advice[serverErrorOf(cause).code ?? ''] ?? ''
  return new OperatorError(`${place} cannot be opened: ${messageOf(cause)}${whatToDo}`, { cause })
}

/** What to do about a failed connection, by error code. */
const advice: Readonly<Record<string, string>> = {
  '3D000': '; create it with createdb',
  '28P01': '; set the password in PGPASSWORD, the file ~/.pgpass or the URL',
  '28000': '; set another user in PGUSER or the URL, or give this one access',
  '08P01':
    '; a pooler must keep the session of each connection: with PgBouncer set pool_mode = session for this database',
  '42501': '; its user needs the right to create tables in its schema',
  '3F000': '; its user needs the right to create tables in its schema',
}

function serverErrorOf(error: unknown): Partial<Pick<pg.DatabaseError, 'code' | 'severity' | 'routine'>> {
  return error instanceof pg.DatabaseError ? error : {}
}
