// What a failure of PostgreSQL means for the request.

import pg from 'pg'
import { AppError, messageOf, OperatorError } from '../../../domain/errors.ts'

/**
 * - `lost`: the connection is of no use any more; what was sent over it may have been done.
 * - `retry`: another transaction stood in the way; nothing was done.
 * - `locked`: another transaction has locked what was wanted, and still has it; nothing was done.
 * - `unwritten`: rows that were sent are not there: a trigger skipped them, or another session deleted them; nothing
 *   was done.
 * - `full`, `busy`: nothing was done, and trying again at once would not help.
 * - `unusable`: the tables are gone, or may not be used; nothing was done.
 * - `own`: something is wrong with what was asked; nothing was done.
 */
export type Failure = 'lost' | 'retry' | 'locked' | 'unwritten' | 'full' | 'busy' | 'unusable' | 'own'

/** Codes by their prefixes (postgresql.org/docs/current/errcodes-appendix.html); the first that fits counts. */
const failures: readonly (readonly [string, Failure])[] = [
  // Not known whether it was done, as distributed engines say.
  ['40003', 'lost'],
  ['08', 'lost'],
  // Shut down, crashed, starting, or the database dropped.
  ['57P', 'lost'],
  // Only reads are served: this is a standby, or has become one.
  ['25006', 'lost'],
  ['53300', 'lost'],
  // A prepared statement that does not fit the tables any more: the next connection prepares it anew.
  ['0A000', 'lost'],
  // One whose preparation failed a moment ago, usually over a lock, for the request that sent it first: it is prepared
  // again.
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

/** Judges an error that a query ended with. */
export function failureOf(error: unknown): Failure {
  if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError) return 'own'
  const { code, severity } = serverErrorOf(error)
  if (code === undefined || severity === 'FATAL' || severity === 'PANIC') return 'lost'
  return failures.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 'own'
}

/** Another transaction locks what one of the jobs of a batch needs, and did not end in time. */
export class Locked extends Error {
  constructor(cause: unknown) {
    super('a row is locked by another transaction', { cause })
  }
}

/** The refusal of a change, or of a read, that PostgreSQL did not do. */
export function refusalOf(failure: Exclude<Failure, 'lost' | 'own'>, cause: unknown): AppError {
  if (failure === 'unusable') {
    return new AppError('storeAway', 'the tables of the database cannot be used; nothing was done, try again', {
      cause,
    })
  }
  if (failure === 'full')
    return new AppError('storeFull', 'the disk of the database is full; nothing was done', { cause })
  return new AppError('overloaded', 'the database is busy; nothing was done, try again', { cause })
}

export function unknownOutcome(cause: unknown): AppError {
  const message = 'the database did not say whether this request was done; it may or may not have been'
  return new AppError('storeUnavailable', message, { cause })
}

/** What stood in the way of a connection, in a line for the operator. */
export function explainConnectFailure(cause: unknown, place: string): OperatorError {
  if (cause instanceof OperatorError) return cause
  return new OperatorError(`${place} cannot be opened: ${messageOf(cause)}${adviceFor(serverErrorOf(cause).code)}`, {
    cause,
  })
}

function adviceFor(code: string | undefined): string {
  switch (code) {
    case '3D000':
      return '; create it with createdb'
    case '28P01':
      return '; set the password in PGPASSWORD, the file ~/.pgpass or the URL'
    case '28000':
      return '; set another user in PGUSER or the URL, or give this one access'
    case '08P01':
      return '; a pooler must keep the session of each connection: with PgBouncer set pool_mode = session for this database'
    case '42501':
    case '3F000':
      return '; its user needs the right to create tables in its schema'
  }
  return ''
}

function serverErrorOf(error: unknown): { code?: string | undefined; severity?: string | undefined } {
  return error instanceof pg.DatabaseError ? { code: error.code, severity: error.severity } : {}
}
