// Opens SQLite connections: a durable one for writes, and read-only ones.

import { mkdirSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { messageOf, OperatorError, SettingError } from '../../../domain/errors.ts'
import { partialOf, rewriteDurably, syncFolder, withFile } from '../../files.ts'
import { assertFolderOf, isForbidden, isFull, isUnreadable, statThere, whyNot } from '../../paths.ts'
import { assertSound } from './header.ts'
import { findSchemaDamage, migrate, readValue } from './migrations.ts'

/** Size to which the write-ahead log is truncated when it restarts. */
const logBytesKept = 64 * 1024 * 1024
/** Page cache of each connection: one that writes, and up to three that read. */
const cacheKilobytes = 16 * 1024

/** Result codes of SQLite (sqlite.org/rescode.html). */
const failures = {
  5: 'busy',
  6: 'locked',
  7: 'noMemory',
  8: 'readOnly',
  11: 'corrupt',
  13: 'full',
  14: 'cannotOpen',
  18: 'tooBig',
  19: 'constraint',
  20: 'mismatch',
  26: 'notADatabase',
  // There was no space to extend the index of the log, the -shm file.
  4874: 'logIndexFull',
  5386: 'logIndexFull',
} as const

export type SqliteFailure = (typeof failures)[keyof typeof failures] | 'other'

/** Older versions can lose commits if a checkpoint coincides with a restart of the write-ahead log. */
const sqliteVersionMin = '3.51.3'

export const isNoDatabase = 'is not a plant store: it is not an SQLite database; name another file'

/** Classifies an error of node:sqlite; undefined for any other error. */
export function sqliteFailure(error: unknown): SqliteFailure | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  const known: Readonly<Record<number, SqliteFailure>> = failures
  // The lower byte is the primary result code.
  return known[error.errcode] ?? known[error.errcode & 0xff] ?? 'other'
}

/** Whether an error is one of node:sqlite, and of one of these kinds. */
export function hasFailed(error: unknown, ...kinds: readonly SqliteFailure[]): boolean {
  const failure = sqliteFailure(error)
  return failure !== undefined && kinds.includes(failure)
}

export const passingMessage = 'the store is out of resources, try again'

/** Whether a read failed because of a transient shortage of resources, not because of the file. */
export function isPassing(error: unknown): boolean {
  return hasFailed(error, 'busy', 'locked', 'noMemory', 'full', 'cannotOpen')
}

/** The only folder that is created automatically: that of the default store. Any other path may be mistyped. */
const defaultFolder = 'data'

/** Creates the file of a store if it is missing: empty, and accessible only to its owner. */
export function makeFile(path: string): void {
  const existing = statThere(path)
  if (existing !== undefined && !existing.isFile()) {
    throw new SettingError(`${path} is ${existing.isDirectory() ? 'a folder' : 'a device or a pipe'}; name a file`)
  }
  const folder = dirname(path)
  if (folder === resolve(defaultFolder) && statThere(folder) === undefined) {
    // Another process may create it meanwhile.
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    syncFolder(dirname(folder))
  } else if (existing === undefined) assertFolderOf(path)
  withFile(path, 'a', () => {})
}

/**
 * Opens a connection for writes: enables the write-ahead log, ensures that it is on disk, makes every commit sync, and
 * creates the tables.
 *
 * @param isAlone false if a server, which has already secured the log, has the store open.
 * @param assertRight called when the files are open, before anything is written.
 */
export function openWritable(
  path: string,
  busyMsMax: number,
  isAlone = true,
  assertRight = (): void => {},
): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: busyMsMax })
  try {
    assertSqliteVersion(database)
    // Check first, so that an unusable file is not changed.
    assertSound(path, findSchemaDamage(database, path))
    assertRight()
    database.exec('PRAGMA journal_mode = WAL')
    database.exec('PRAGMA synchronous = FULL')
    // Without these, a sync of macOS does not reach the disk. They change nothing on other systems.
    database.exec('PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1')
    if (isAlone) secureLog(database, path)
    migrate(database, path)
    database.exec(`PRAGMA cache_size = -${cacheKilobytes}; PRAGMA journal_size_limit = ${logBytesKept}`)
    // The writer thread runs checkpoints between transactions, where it can handle failures.
    database.exec('PRAGMA wal_autocheckpoint = 0')
    assertDurable(database, isAlone)
    return database
  } catch (cause) {
    database.close()
    throw cause
  }
}

/**
 * Ensures that the log is on disk. After a failed fsync, Linux marks the pages as clean. A new process then reads
 * frames from the log that never reached the disk, and a power cut loses the commits that it appends to them. A
 * checkpoint copies the log into the database file and syncs it. If a reader needs an older snapshot, the log itself is
 * rewritten.
 */
function secureLog(database: DatabaseSync, path: string): void {
  if (truncateLog(database)) return
  database.exec('BEGIN IMMEDIATE')
  try {
    // Closing a file drops all locks of the process on it, but SQLite holds no locks on the log.
    rewriteDurably(`${path}-wal`)
  } finally {
    database.exec('ROLLBACK')
  }
}

/** Copies the log into the database file and truncates it. Returns false if a reader still needs the log. */
export function truncateLog(database: DatabaseSync): boolean {
  // The first column is 1 if the checkpoint was blocked.
  return readValue(database, 'PRAGMA wal_checkpoint(TRUNCATE)') === 0
}

/** Opens a read-only connection. The store must already be open for writing. */
export function openReadable(path: string, busyMsMax: number): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true, timeout: busyMsMax })
  // Sorting in a file could fail for lack of space or descriptors.
  database.exec(`PRAGMA temp_store = MEMORY; PRAGMA cache_size = -${cacheKilobytes}`)
  return database
}

export type Statements<Name extends string> = Readonly<Record<Name, StatementSync>>

/**
 * Prepares statements by their names. Integers are bigints: each write reads the last row id, which may be a plant's id.
 * Rows are arrays, which take half the time of objects.
 */
export function prepareAll<Name extends string>(
  database: DatabaseSync,
  texts: Readonly<Record<Name, string>>,
): Statements<Name> {
  const entries = Object.entries<string>(texts).map(([name, text]) => {
    const statement = database.prepare(text.replaceAll(/\$(?=\d)/g, '?'))
    statement.setReadBigInts(true)
    statement.setReturnArrays(true)
    return [name, statement]
  })
  return Object.fromEntries(entries)
}

/**
 * Throws OperatorError if commits on a connection would not be durable. SQLite may report `synchronous` as FULL for a new
 * file and lower it at the first write, so this writes first. Beside a server, which has written, a full disk is no
 * failure: commands that only read need no space.
 */
export function assertDurable(database: DatabaseSync, isAlone = true): void {
  try {
    database.exec('BEGIN IMMEDIATE')
    database.exec(`PRAGMA user_version = ${Number(readValue(database, 'PRAGMA user_version'))}`)
    database.exec('COMMIT')
  } catch (cause) {
    if (isAlone || !hasFailed(cause, 'full', 'logIndexFull')) throw cause
    if (database.isTransaction) database.exec('ROLLBACK')
  }
  const journalMode = readValue(database, 'PRAGMA journal_mode')
  const synchronous = readValue(database, 'PRAGMA synchronous')
  if (journalMode !== 'wal' || synchronous !== 2) {
    throw new OperatorError(
      `the store would not be durable: journal_mode is ${journalMode} (needed: wal), synchronous is ${synchronous} (needed: 2, FULL); is the file on a local disk?`,
    )
  }
}

/**
 * Explains a failure to open a store to the operator, in one line.
 *
 * @param purpose the kind of access.
 */
export function explainOpenFailure(
  cause: unknown,
  path: string,
  purpose: 'read' | 'written' = 'written',
): OperatorError {
  if (cause instanceof OperatorError) return cause
  if (hasFailed(cause, 'busy')) {
    return inUse(path, `${path} is being written to by another command or server; try again when it is done`, cause)
  }
  const explanations: Partial<Record<SqliteFailure, string>> = {
    readOnly: isForbidden,
    cannotOpen: purpose === 'read' ? isUnreadable : isForbidden,
    notADatabase: isNoDatabase,
    full: isFull,
    logIndexFull: isFull,
  }
  const known = explanations[sqliteFailure(cause) ?? 'other'] ?? whyNot(cause, purpose)
  return new OperatorError(`${path} ${known ?? `cannot be opened: ${messageOf(cause)}`}`, { cause })
}

/**
 * The error for a store that another process has locked. If the file system does not support locks, SQLite reports every
 * lock as held by another process (ENOLCK); the message then names this cause.
 */
export function inUse(path: string, message: string, cause?: unknown): OperatorError {
  if (hasLocks(path)) return new OperatorError(message, { cause })
  return new OperatorError(
    `${path} cannot be locked: its file system does not support locks (NFS without its lock service, for example); use a local disk`,
  )
}

/** Tries a lock on a temporary file. Returns true if the file cannot be created. */
function hasLocks(path: string): boolean {
  const probe = partialOf(path)
  try {
    withFile(probe, 'wx', () => {})
  } catch {
    return true
  }
  try {
    using file = new DatabaseSync(probe, { timeout: 0 })
    file.exec('BEGIN IMMEDIATE; ROLLBACK')
    return true
  } catch (cause) {
    return !hasFailed(cause, 'busy')
  } finally {
    rmSync(probe)
  }
}

function assertSqliteVersion(database: DatabaseSync): void {
  const version = String(readValue(database, 'SELECT sqlite_version()'))
  // Comparing by a locale would first load its rules, for 8 ms.
  const sortable = (numbers: string): string => numbers.replaceAll(/\d+/g, (digits) => digits.padStart(4, '0'))
  if (sortable(version) >= sortable(sqliteVersionMin)) return
  throw new OperatorError(`SQLite ${sqliteVersionMin} or newer is needed, this Node.js has ${version}; update Node.js`)
}
