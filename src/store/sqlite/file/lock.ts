// The lock of a store: a transaction on an empty SQLite file beside it. The operating system releases it when the process
// ends, so it never becomes stale.

import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from '../../../domain/errors.ts'
import type { StoreOptions } from '../../engine.ts'
import { hasFailed, inUse, makeFile } from './database.ts'

export interface Lock {
  release(): void
}

/**
 * `server`: a server, or a command that is opening the store; commands may run beside it. `restore`: a restore, which
 * excludes every other process, including readers of the lock.
 */
const beginOf = { server: 'BEGIN IMMEDIATE', restore: 'BEGIN EXCLUSIVE' } as const

/**
 * Takes the lock of a store; returns undefined if another process holds it.
 *
 * @param path the real path of the store, so that all names of a file share one lock.
 * @param waitMsMax how long to wait for another process.
 */
export function takeLock(path: string, waitMsMax: number, holder: keyof typeof beginOf): Lock | undefined {
  makeFile(`${path}.lock`)
  try {
    using opened = new DisposableStack()
    const file = opened.use(new DatabaseSync(`${path}.lock`, { timeout: waitMsMax }))
    if (!isFree(file, beginOf[holder])) return undefined
    opened.move()
    return { release: () => file.close() }
  } catch (cause) {
    throw explainLockFailure(cause, path)
  }
}

/**
 * Takes the lock for opening a store. A server waits briefly for a command that holds it. A command proceeds without
 * the lock if a server holds it, unless the server's log is missing. It does not proceed during a restore, which
 * replaces the file.
 *
 * @param waitMsMax how long a command waits for the lock at a time.
 */
export async function takeLockToOpen(
  path: string,
  options: Pick<StoreOptions, 'exclusive' | 'clock' | 'limits'>,
  waitMsMax: number,
): Promise<Lock | undefined> {
  if (options.exclusive) {
    const lock = takeLock(path, options.limits.storeLockMsMax, 'server')
    if (lock !== undefined) return lock
    throw inUse(path, `${path} is in use by another plantstore server; stop it or name another file`)
  }
  let lock: Lock | undefined
  await untilFree(path, options, () => {
    lock = takeLock(path, waitMsMax, 'server')
    if (lock !== undefined) return undefined
    if (isRestored(path)) return `${path} is being restored; try again when the restore is done`
    // `isServed` of another process also holds the lock briefly.
    return findMissing(path) ?? (isServed(path) ? undefined : `${path} is in use by other commands; try again`)
  })
  return lock
}

/** Whether a process holds the lock of a store. Takes the lock briefly to find out. */
export function isServed(path: string): boolean {
  return isHeld(path, beginOf.server)
}

/** Whether a store is being restored. */
function isRestored(path: string): boolean {
  return isHeld(path, 'SELECT 1 FROM sqlite_schema')
}

/**
 * Explains which file is missing beside a running server. A command that opened the store would create another log or
 * index, and both processes would overwrite each other's changes. Files are briefly missing while a server starts or
 * stops.
 */
export function findMissing(path: string): string | undefined {
  const missing = ['-wal', '-shm'].map((suffix) => path + suffix).find((name) => !existsSync(name))
  if (missing === undefined || !isServed(path) || isRestored(path)) return undefined
  return `${missing} is missing although a server has ${path} open; stop the server, start it again, and then try again`
}

/** Waits for missing files. Throws OperatorError if they do not appear in time. */
export function untilWhole(path: string, options: Pick<StoreOptions, 'clock' | 'limits'>): Promise<void> {
  return untilFree(path, options, () => findMissing(path))
}

/** Waits until there is no obstacle. Throws OperatorError with the obstacle if that takes too long. */
async function untilFree(
  path: string,
  { clock, limits }: Pick<StoreOptions, 'clock' | 'limits'>,
  findObstacle: () => string | undefined,
): Promise<void> {
  const deadlineMs = clock.monotonicMs() + limits.storeLockMsMax
  for (let obstacle = findObstacle(); obstacle !== undefined; obstacle = findObstacle()) {
    if (clock.monotonicMs() >= deadlineMs) throw inUse(path, obstacle)
    await sleep(limits.storeLockCheckMs)
  }
}

function isHeld(path: string, sql: string): boolean {
  if (!existsSync(`${path}.lock`)) return false
  try {
    using file = new DatabaseSync(`${path}.lock`, { timeout: 0 })
    return !isFree(file, sql)
  } catch (cause) {
    // Without write access, this cannot be determined, but nothing can be changed, either.
    if (hasFailed(cause, 'readOnly', 'cannotOpen')) return false
    throw explainLockFailure(cause, path)
  }
}

function isFree(file: DatabaseSync, sql: string): boolean {
  try {
    file.exec(sql)
    return true
  } catch (cause) {
    if (hasFailed(cause, 'busy')) return false
    throw cause
  }
}

function explainLockFailure(cause: unknown, path: string): unknown {
  if (!hasFailed(cause, 'notADatabase')) return cause
  return new OperatorError(`${path}.lock must be empty, but is not; move it away: the store itself is not affected`, {
    cause,
  })
}
