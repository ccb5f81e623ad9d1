// The lock that a server holds on its store. The operating system lets go of it when the process dies, however it dies,
// so nothing stale is left. It is an SQLite file beside the store, held exclusively and always empty.

import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { OperatorError } from '../../../domain/errors.ts'
import { makeFile, resultCode, sqliteResultCode } from './database.ts'
import { FileIdentity, namesOf } from './identity.ts'

export interface Lock {
  release(): void
}

/**
 * Who takes it: a server, or a command while it opens a store, beside which other commands can; or a restore, which has
 * to be alone. To SQLite the first is a transaction that writes, the second one that lets no other process read.
 */
export type LockHolder = 'server' | 'restore'

const beginOf: Readonly<Record<LockHolder, string>> = { server: 'BEGIN IMMEDIATE', restore: 'BEGIN EXCLUSIVE' }

/**
 * Takes the lock of a store, or gives undefined when another process holds it.
 *
 * @param path the store's file, by its real path, so that two names of one file have one lock.
 * @param waitMsMax how long to wait for the other process.
 */
export function takeLock(path: string, waitMsMax: number, holder: LockHolder): Lock | undefined {
  makeFile(`${path}.lock`)
  // That of a store whose start failed is removed again.
  const files = new FileIdentity(`${path}.lock`, namesOf(`${path}.lock`, ['']))
  let file: DatabaseSync | undefined
  try {
    const lock = new DatabaseSync(`${path}.lock`, { timeout: waitMsMax })
    file = lock
    if (isFree(lock, beginOf[holder])) {
      files.check()
      return { release: () => lock.close() }
    }
  } catch (cause) {
    file?.close()
    throw explainLockFailure(cause, path)
  }
  file.close()
  return undefined
}

/** Whether a process holds the lock of a store now. Holds it only while it looks. */
export function isServed(path: string): boolean {
  return isHeld(path, 'BEGIN IMMEDIATE')
}

/** Whether a store is being restored now. */
export function isRestored(path: string): boolean {
  return isHeld(path, 'SELECT 1 FROM sqlite_schema')
}

function isHeld(path: string, sql: string): boolean {
  // A lock that is not there is free.
  if (!existsSync(`${path}.lock`)) return false
  let file: DatabaseSync | undefined
  try {
    file = new DatabaseSync(`${path}.lock`, { timeout: 0 })
    return !isFree(file, sql)
  } catch (cause) {
    // A user who may only read cannot tell, and changes nothing.
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
  return new OperatorError(
    `${path}.lock has something in it, but is to be empty; move it away: the store itself is not affected`,
    { cause },
  )
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
