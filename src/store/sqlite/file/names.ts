// The files of a store, by the suffixes of their names:
//
// - none: the database. An open store watches it, its log and the index of the log: one of them that is deleted or
//   replaced stops a server. It would otherwise keep writing to a file that no restart finds, and processes with
//   different indexes of one log would overwrite each other's changes.
// - `-wal`, `-shm`, `-journal`: SQLite's write-ahead log, the index of the log, and the rollback journal. SQLite uses any
//   file of such a name, so those of an earlier store must be removed.
// - `.lock`: held by a server, by a command that is opening the store, and by a restore; see lock.ts.
// - `.restoring`: the new file of a restore, until it gets the name of the store.
// - `.backed-up`: empty; its mtime is the time of the last backup.

import { existsSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { OperatorError } from '../../../domain/errors.ts'
import { explained, statThere, toAbsolute } from '../../paths.ts'
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
