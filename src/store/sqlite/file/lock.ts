// The lock of a server on its store: a transaction on an empty SQLite file beside the store. The operating system
// releases it when the process ends, so it never becomes stale.

import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { OperatorError } from '../../../domain/errors.ts'
import { makeFile, resultCode, sqliteResultCode } from './database.ts'

export interface Lock {
  release(): void
}

/**
 * `server`: a server, or a command that is opening the store; commands may run beside it. `restore`: a restore, which
 * excludes every other process, including readers of the lock.
 */
export type LockHolder = 'server' | 'restore'

const beginOf: Readonly<Record<LockHolder, string>> = { server: 'BEGIN IMMEDIATE', restore: 'BEGIN EXCLUSIVE' }

/**
 * Takes the lock of a store; returns undefined if another process holds it.
 *
 * @param path the real path of the store, so that all names of a file share one lock.
 * @param waitMsMax how long to wait for another process.
 */
export function takeLock(path: string, waitMsMax: number, holder: LockHolder): Lock | undefined {
  makeFile(`${path}.lock`)
  let file: DatabaseSync | undefined
  try {
    const lock = new DatabaseSync(`${path}.lock`, { timeout: waitMsMax })
    file = lock
    if (isFree(lock, beginOf[holder])) return { release: () => lock.close() }
  } catch (cause) {
    file?.close()
    throw explainLockFailure(cause, path)
  }
  file.close()
  return undefined
}

/** Whether a process holds the lock of a store. Takes the lock briefly to find out. */
export function isServed(path: string): boolean {
  return isHeld(path, 'BEGIN IMMEDIATE')
}

/** Whether a store is being restored. */
export function isRestored(path: string): boolean {
  return isHeld(path, 'SELECT 1 FROM sqlite_schema')
}

function isHeld(path: string, sql: string): boolean {
  if (!existsSync(`${path}.lock`)) return false
  let file: DatabaseSync | undefined
  try {
    file = new DatabaseSync(`${path}.lock`, { timeout: 0 })
    return !isFree(file, sql)
  } catch (cause) {
    // Without write access, this cannot be determined, but nothing can be changed, either.
    if (isForbiddenToWrite(cause)) return false
    throw explainLockFailure(cause, path)
  } finally {
    file?.close()
  }
}

function isForbiddenToWrite(cause: unknown): boolean {
  const code = sqliteResultCode(cause)
  return code === resultCode.readOnly || code === resultCode.cannotOpen
}

function explainLockFailure(cause: unknown, path: string): unknown {
  if (sqliteResultCode(cause) !== resultCode.notADatabase) return cause
  return new OperatorError(`${path}.lock must be empty, but is not; move it away: the store itself is not affected`, {
    cause,
  })
}

function isFree(file: DatabaseSync, sql: string): boolean {
  try {
    file.exec(sql)
    return true
  } catch (cause) {
    if (sqliteResultCode(cause) === resultCode.busy) return false
    throw cause
  }
}
