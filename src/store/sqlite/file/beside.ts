// The files that SQLite keeps beside a database: the write-ahead log, its index, and the rollback journal. SQLite uses
// any file of such a name, so files of an earlier store must be removed.

import { existsSync, rmSync, statSync } from 'node:fs'
import { OperatorError } from '../../../domain/errors.ts'
import { isHotJournal } from './header.ts'

export const sqliteSuffixes = ['-wal', '-shm', '-journal'] as const

/** The paths of the existing files beside a database. */
export function findBeside(path: string): string[] {
  return sqliteSuffixes.map((suffix) => path + suffix).filter((name) => existsSync(name))
}

/** Removes the files beside a database. Does not sync the folder. */
export function removeBeside(path: string): void {
  for (const suffix of sqliteSuffixes) rmSync(path + suffix, { force: true })
}

/** Throws OperatorError if a change of a database was interrupted. Undoing it needs write access. */
export function assertNoJournal(path: string): void {
  const journal = `${path}-journal`
  if (!isHotJournal(journal)) return
  throw new OperatorError(
    `${journal} shows that a change to ${path} was interrupted; to undo the change, open the file with the program that was changing it`,
  )
}

/** Throws OperatorError if a file is empty: SQLite would delete the log beside it. */
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
