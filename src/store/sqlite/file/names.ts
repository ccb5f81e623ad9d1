// The files of a store, by the suffixes of their names: who may hold each, and how its loss is noticed.
//
// | suffix | what | who may hold it | when it is lost |
// | --- | --- | --- | --- |
// | none | the database | one writer at a time; any number of readers | an open store stops (`assertKept`) |
// | `-wal`, `-shm` | SQLite's write-ahead log and its index | as the database | an open store stops; a command beside a server does not open it (`findMissing`) |
// | `-journal` | SQLite's rollback journal | as the database | |
// | `.lock` | an empty database | a server while it runs, a command while it opens the store, a restore | another process may take it |
// | `.restoring` | the new file of a restore | the restore | made again |
// | `.backed-up` | empty; its mtime is the time of the last backup | | the metric is 0 |
//
// A server would otherwise keep writing to a file that no restart finds, and processes with different indexes of one log
// would overwrite each other's changes. SQLite uses any file with the name of a log or a journal, so those of an earlier
// store must be removed. The operating system releases the lock when the process ends, so it never becomes stale.

import { existsSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from '../../../domain/errors.ts'
import type { StoreOptions } from '../../engine.ts'
import { explained, statThere, toAbsolute } from '../../paths.ts'
import { hasFailed, inUse, makeFile } from './database.ts'
import { isDatabase } from './header.ts'

const watchedSuffixes = ['', '-wal', '-shm'] as const
const sqliteSuffixes = ['-wal', '-shm', '-journal'] as const
const suffixes = [...sqliteSuffixes, '.lock', '.restoring', '.backed-up'] as const

/** The paths of all files of a store. */
export function filesOfStore(path: string): readonly string[] {
  const realPath = toRealPath(toAbsolute(path))
  return ['', ...suffixes].map((suffix) => realPath + suffix)
}

/**
 * Throws OperatorError if a file belongs to a store, which writing to it would destroy.
 *
 * @param own the files of the command's own store, from `Engine.filesOf`; they may not exist yet.
 */
export function assertNoStoreFile(file: string, own: readonly string[] = []): void {
  explained(file, 'written', () => {
    const path = toRealPath(toAbsolute(file))
    const store = suffixes.filter((suffix) => path.endsWith(suffix)).map((suffix) => path.slice(0, -suffix.length))
    if (!own.includes(path) && ![path, ...store].some(isDatabase)) return
    throw new OperatorError(`${file} belongs to a store, which this would destroy; name another file`)
  })
}

/** The real path of a file, even if it does not exist yet. */
function toRealPath(path: string): string {
  if (statThere(path) !== undefined) return realpathSync(path)
  const folder = dirname(path)
  return statThere(folder) === undefined ? path : join(realpathSync(folder), basename(path))
}

/** The paths of the existing files that SQLite keeps beside a database. */
export function findBeside(path: string): string[] {
  return sqliteSuffixes.map((suffix) => path + suffix).filter((name) => existsSync(name))
}

/** Removes the files that SQLite keeps beside a database. Does not sync the folder. */
export function removeBeside(path: string): void {
  for (const suffix of sqliteSuffixes) rmSync(path + suffix, { force: true })
}

/**
 * The real path of a file, so that all paths to a file share one log and one lock.
 *
 * @throws OperatorError if the file itself is a mount point: the files beside it in its original folder are not visible
 * here, so that two servers would have separate logs and locks.
 */
export function realPathOf(path: string): string {
  const realPath = realpathSync(path)
  if (!isMounted(realPath)) return realPath
  throw new OperatorError(
    `${path} is mounted as a single file, without the log and the lock that lie beside it; mount its folder instead`,
  )
}

function isMounted(realPath: string): boolean {
  const mounts = readMounts()
  return mounts === undefined ? statSync(realPath).dev !== statSync(dirname(realPath)).dev : mounts.includes(realPath)
}

/** All mount points; undefined if the system has no such list. A bind mount has the device number of its disk. */
function readMounts(): readonly string[] | undefined {
  try {
    const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
    return lines.map((line) => unescapeMount(line.split(' ')[4] ?? ''))
  } catch {
    return undefined
  }
}

/** Spaces, line ends and backslashes are octal escapes (proc_pid_mountinfo(5)). */
function unescapeMount(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}

type WatchedSuffix = (typeof watchedSuffixes)[number]

/** Device and inode of the watched files, which are unique while the files are open. */
export type Identity = ReadonlyMap<WatchedSuffix, string>

/** A file of a store was deleted or replaced. */
export class LostFileError extends OperatorError {}

/** The current identity. Read that of the database before opening it, and those of the log and index when they exist. */
export function identityOf(path: string, of: readonly WatchedSuffix[] = watchedSuffixes): Identity {
  return new Map(of.map((suffix) => [suffix, inodeOf(path + suffix)]))
}

/** The suffixes of the deleted or replaced files. Takes a few microseconds. */
export function findLost(path: string, identity: Identity): readonly WatchedSuffix[] {
  return [...identity.keys()].filter((suffix) => inodeOf(path + suffix) !== identity.get(suffix))
}

/** Throws LostFileError if a file was deleted or replaced. */
export function assertKept(path: string, identity: Identity): void {
  const [lost] = findLost(path, identity)
  if (lost === undefined) return
  throw new LostFileError(`${path}${lost} was deleted or replaced while the program was running`)
}

function inodeOf(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? 'missing' : `${stats.dev} ${stats.ino}`
}

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
    // The lock was free: SQLite takes it before it needs space.
    if (hasFailed(cause, 'full')) return false
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
