// The files of a store, by the suffixes of their names: who may hold each, and how its loss is noticed.
//
// | suffix | what | who may hold it | when it is lost |
// | --- | --- | --- | --- |
// | none | the database | one writer at a time; any number of readers | an open store stops (`assertKept`) |
// | `-wal`, `-shm` | SQLite's write-ahead log and its index | as the database | an open store stops; a command beside a server does not open it (`findMissing`) |
// | `-journal` | SQLite's rollback journal | as the database | |
// | `.lock` | an empty database | a server while it runs, a command while it opens the store, a restore | another process may take it |
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
const suffixes = [...sqliteSuffixes, '.lock', '.backed-up'] as const

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

/** A bind mount has the device number of its disk. Only Linux lists all mount points (proc_pid_mountinfo(5)). */
function isMounted(realPath: string): boolean {
  try {
    const points = readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .map((line) => line.split(' ')[4] ?? '')
    // Spaces, line ends and backslashes are octal escapes.
    const decode = (_: string, digits: string): string => String.fromCharCode(Number.parseInt(digits, 8))
    return points.some((point) => point.replaceAll(/\\([0-7]{3})/g, decode) === realPath)
  } catch {
    return statSync(realPath).dev !== statSync(dirname(realPath)).dev
  }
}

type WatchedSuffix = (typeof watchedSuffixes)[number]

/** Device and inode of the watched files, which are unique while the files are open. */
export type Identity = ReadonlyMap<WatchedSuffix, string>

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

/** A lock is released when it is disposed of, or when the process ends. */
export type Lock = Disposable

/**
 * How to hold the lock. `server`: a server, or a command that is opening the store; commands may run beside it.
 * `restore`: excludes every other process. `look`: held only while it is taken; excluded by a restore alone.
 */
const holds = { server: 'BEGIN IMMEDIATE', restore: 'BEGIN EXCLUSIVE', look: 'SELECT 1 FROM sqlite_schema' } as const

/**
 * Takes the lock of a store; returns undefined if another process holds it.
 *
 * @param path the real path of the store, so that all names of a file share one lock.
 * @param waitMsMax how long to wait for another process.
 */
export function takeLock(path: string, waitMsMax: number, hold: keyof typeof holds): Lock | undefined {
  makeFile(`${path}.lock`)
  return tryLock(path, waitMsMax, hold)
}

function tryLock(path: string, waitMsMax: number, hold: keyof typeof holds): Lock | undefined {
  using opened = new DisposableStack()
  try {
    const file = opened.use(new DatabaseSync(`${path}.lock`, { timeout: waitMsMax }))
    // Without a journal on disk, a lock needs no space, and a killed process leaves nothing.
    file.exec(`PRAGMA journal_mode = MEMORY; ${holds[hold]}`)
    opened.move()
    return file
  } catch (cause) {
    if (hasFailed(cause, 'busy')) return undefined
    if (!hasFailed(cause, 'notADatabase')) throw cause
    const message = `${path}.lock must be empty, but is not; move it away: the store itself is not affected`
    throw new OperatorError(message, { cause })
  }
}

/**
 * Whether another process excludes this way to hold the lock of a store: `server`, if a server or a command holds it;
 * `look`, during a restore. Takes the lock briefly to find out.
 */
export function isHeld(path: string, hold: keyof typeof holds): boolean {
  if (!existsSync(`${path}.lock`)) return false
  try {
    using lock = tryLock(path, 0, hold)
    return lock === undefined
  } catch (cause) {
    // Without write access, this cannot be determined, but nothing can be changed, either.
    if (hasFailed(cause, 'readOnly', 'cannotOpen')) return false
    throw cause
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
    if (isHeld(path, 'look')) return `${path} is being restored; try again when the restore is done`
    // `isHeld` of another process also holds the lock briefly.
    return findMissing(path) ?? (isHeld(path, 'server') ? undefined : `${path} is in use by other commands; try again`)
  })
  return lock
}

/**
 * Explains which file is missing beside a running server. A command that opened the store would create another log or
 * index, and both processes would overwrite each other's changes. Files are briefly missing while a server starts or
 * stops.
 */
export function findMissing(path: string): string | undefined {
  const missing = ['-wal', '-shm'].map((suffix) => path + suffix).find((name) => !existsSync(name))
  if (missing === undefined || !isHeld(path, 'server') || isHeld(path, 'look')) return undefined
  return `${missing} is missing although a server has ${path} open; stop the server, start it again, and then try again`
}

/** Waits until there is no obstacle. Throws OperatorError with the obstacle if that takes too long. */
export async function untilFree(
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
