// What SQLite keeps beside a database under names of its own: the write-ahead log, its index, and the rollback journal.
// It takes any file of such a name for the database's own, so a file of an earlier store must not stay.

import { existsSync, rmSync, statSync } from 'node:fs'
import { OperatorError } from '../../../domain/errors.ts'
import { isHotJournal } from './header.ts'

export const sqliteSuffixes = ['-wal', '-shm', '-journal'] as const

/** The paths of what lies beside a database. */
export function findBeside(path: string): string[] {
  return sqliteSuffixes.map((suffix) => path + suffix).filter((name) => existsSync(name))
}

/** Removes what lies beside a database. The folder is not synced. */
export function removeBeside(path: string): void {
  for (const suffix of sqliteSuffixes) rmSync(path + suffix, { force: true })
}

/** Throws OperatorError when a change of a database was interrupted: only who may write can undo it. */
export function assertNoJournal(path: string): void {
  const journal = `${path}-journal`
  if (!isHotJournal(journal)) return
  throw new OperatorError(
    `${journal} shows that a change to ${path} was interrupted; to undo the change, open the file with the program that was changing it`,
  )
}

/** Throws OperatorError when there is no database in a file: SQLite would delete the log beside an empty one. */
export function assertNotEmpty(path: string): void {
  if (statSync(path).size > 0) return
  const [left] = findBeside(path).filter(hasContent)
  throw new OperatorError(
    left === undefined
      ? `${path} is an empty file, not a store`
      : `${path} is an empty file, not a store; ${left} beside it belongs to an earlier one`,
  )
}

function hasContent(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0
}
