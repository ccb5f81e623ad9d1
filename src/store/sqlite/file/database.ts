// Opens SQLite connections: one that writes and is sure to be durable, and ones that only read.

import { closeSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { codeOf, messageOf, OperatorError, SettingError } from '../../../domain/errors.ts'
import { partialOf, rewriteDurably, syncFolder } from '../../files.ts'
import { assertFolderOf, isForbidden, isFull, isUnreadable, statThere, whyNot } from '../../paths.ts'
import { assertSound, findSchemaDamage } from './damage.ts'
import { isDatabase } from './header.ts'
import { migrate } from './migrations.ts'

/** Primary result codes of SQLite (sqlite.org/rescode.html). */
export const resultCode = {
  busy: 5,
  locked: 6,
  noMemory: 7,
  readOnly: 8,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  tooBig: 18,
  constraint: 19,
  mismatch: 20,
  notADatabase: 26,
} as const

/** Extended result codes for an index of the log (the -shm file) that cannot be made longer. */
const logIndexCodes = { shmSize: 4874, shmMap: 5386 } as const

/** The write-ahead log of older versions could lose commits when a checkpoint met a restart of the log. */
const sqliteVersionMin = [3, 51, 3] as const

const isNoDatabase = 'is not a plant store: it is not an SQLite database; name another file'

/** The primary result code of an error of node:sqlite, or undefined for any other error. */
export function sqliteResultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & 0xff
}

/** Whether a transaction failed because the index of the log had to grow and there was no room for it. */
export function isLogIndexFull(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error)) return false
  return error.errcode === logIndexCodes.shmSize || error.errcode === logIndexCodes.shmMap
}

/** Whether a read failed for want of something that may be there again: nothing is wrong with the file. */
export function isPassing(error: unknown): boolean {
  const code = sqliteResultCode(error)
  const passing = [resultCode.busy, resultCode.locked, resultCode.noMemory, resultCode.full, resultCode.cannotOpen]
  return passing.some((each) => each === code)
}

/** The one folder that is made for a store: that of the store which no setting names. Any other may be mistyped. */
const defaultFolder = 'data'

/** Makes a store's file, empty and for its owner alone, where it is missing. */
export function makeFile(path: string): void {
  const existing = statThere(path)
  if (existing !== undefined && !existing.isFile()) {
    throw new SettingError(`${path} is ${existing.isDirectory() ? 'a folder' : 'a device or a pipe'}; name a file`)
  }
  if (existing === undefined) makeFolderOf(path)
  closeSync(openSync(path, 'a', 0o600))
}

/** Makes the default folder, so that it survives a power cut. Throws OperatorError when another one is missing. */
function makeFolderOf(path: string): void {
  const folder = dirname(path)
  if (statThere(folder) !== undefined || folder !== resolve(defaultFolder)) {
    assertFolderOf(path)
    return
  }
  try {
    mkdirSync(folder, 0o700)
  } catch (cause) {
    // Another process may have made it meanwhile.
    if (codeOf(cause) !== 'EEXIST') throw cause
  }
  syncFolder(dirname(folder))
}

/**
 * Throws OperatorError when a file has something in it that is no SQLite database. SQLite takes short ones for empty.
 */
export function checkHeader(path: string): void {
  if (statSync(path).size > 0 && !isDatabase(path)) throw new SettingError(`${path} ${isNoDatabase}`)
}

export interface WritableOptions {
  /** How long a statement waits for another process. */
  readonly storeBusyMsMax: number
  /** What is kept of the log's file when the log is begun anew. */
  readonly logBytesKept: number
  readonly cacheBytes: number
  /** Whether no server has the store that has made sure of its log already. */
  readonly isAlone: boolean
}

/**
 * Opens a connection that writes: the write-ahead log on and sure to be on disk, every commit synced, the tables made.
 *
 * @param assertRight asked once the files are open, before anything is written to them.
 */
export function openWritable(path: string, options: WritableOptions, assertRight = (): void => {}): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: options.storeBusyMsMax })
  try {
    assertSqliteVersion(database)
    // Asked first: what is no store, or none that can be used, is refused before anything of it is changed.
    assertSound(path, findSchemaDamage(database, path))
    assertRight()
    database.exec('PRAGMA journal_mode = WAL')
    database.exec('PRAGMA synchronous = FULL')
    if (options.isAlone) secureLog(database, path)
    migrate(database, path)
    setCache(database, options.cacheBytes)
    database.exec(`PRAGMA journal_size_limit = ${options.logBytesKept}`)
    // The writer thread checkpoints by itself, between two transactions, where a failure is seen.
    database.exec('PRAGMA wal_autocheckpoint = 0')
    assertDurable(database)
    return database
  } catch (cause) {
    database.close()
    throw cause
  }
}

/**
 * Makes sure that what the log holds is on disk. After a failed fsync Linux takes the pages for written, so that a new
 * process reads from the log what the disk never got, and what it appends behind that is lost with the next power
 * cut. So the log is copied into the database file, where every page is written and synced anew; and if a reader still
 * reads an older moment, which keeps the log, the log itself is written anew.
 */
function secureLog(database: DatabaseSync, path: string): void {
  if (truncateLog(database)) return
  database.exec('BEGIN IMMEDIATE')
  try {
    // SQLite holds no locks on a log, which closing it would drop.
    rewriteDurably(`${path}-wal`)
  } finally {
    database.exec('ROLLBACK')
  }
}

/** Carries the log into the database file and empties it; false when a reader still needs it. */
export function truncateLog(database: DatabaseSync): boolean {
  return Number(database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy']) === 0
}

/** Opens a connection that can change nothing. The store must have been opened for writing before. */
export function openReadable(path: string, busyMsMax: number, cacheBytes?: number): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true, timeout: busyMsMax })
  // A sort that needed a file could fail for want of room or of descriptors.
  database.exec('PRAGMA temp_store = MEMORY')
  if (cacheBytes !== undefined) setCache(database, cacheBytes)
  return database
}

function setCache(database: DatabaseSync, bytes: number): void {
  database.exec(`PRAGMA cache_size = -${Math.ceil(bytes / 1024)}`)
}

/**
 * Refuses a connection that would acknowledge before the disk has the change. SQLite may report `synchronous` as FULL
 * and lower it at the first write of a connection, so a write comes first.
 */
export function assertDurable(database: DatabaseSync): void {
  database.exec('BEGIN IMMEDIATE')
  database.exec(`PRAGMA user_version = ${Number(readPragma(database, 'user_version'))}`)
  database.exec('COMMIT')
  const journalMode = readPragma(database, 'journal_mode')
  const synchronous = readPragma(database, 'synchronous')
  if (journalMode !== 'wal' || synchronous !== 2) {
    throw new OperatorError(
      `the store would not be durable: journal_mode is ${journalMode} (needed: wal), synchronous is ${synchronous} (needed: 2, FULL); is the file on a local disk?`,
    )
  }
}

/**
 * Turns what opening a store can fail with into one line for the operator.
 *
 * @param purpose what it was opened for.
 */
export function explainOpenFailure(
  cause: unknown,
  path: string,
  purpose: 'read' | 'written' = 'written',
): OperatorError {
  if (cause instanceof OperatorError) return cause
  if (sqliteResultCode(cause) === resultCode.busy && !hasLocks(path)) return noLocks(path)
  return new OperatorError(`${path} ${whyNotOpened(cause, purpose)}`, { cause })
}

/**
 * Throws OperatorError when the file system of a file has no locks. To SQLite each lock is then one that another process
 * holds (ENOLCK).
 */
export function assertLocks(path: string): void {
  if (!hasLocks(path)) throw noLocks(path)
}

function noLocks(path: string): OperatorError {
  return new OperatorError(
    `${path} cannot be locked: its file system has no locks, as NFS without its lock service; use a local disk`,
  )
}

/** Tried on a new file of its own. True where it cannot be made. */
function hasLocks(path: string): boolean {
  const probe = partialOf(path)
  try {
    closeSync(openSync(probe, 'wx', 0o600))
  } catch {
    return true
  }
  const file = new DatabaseSync(probe, { timeout: 0 })
  try {
    file.exec('BEGIN IMMEDIATE; ROLLBACK')
    return true
  } catch (cause) {
    return sqliteResultCode(cause) !== resultCode.busy
  } finally {
    file.close()
    rmSync(probe)
  }
}

function whyNotOpened(cause: unknown, purpose: 'read' | 'written'): string {
  if (isLogIndexFull(cause)) return isFull
  switch (sqliteResultCode(cause)) {
    case resultCode.readOnly:
      return isForbidden
    case resultCode.cannotOpen:
      return purpose === 'read' ? isUnreadable : isForbidden
    case resultCode.notADatabase:
      return isNoDatabase
    case resultCode.full:
      return isFull
    case resultCode.busy:
      return 'is being written to by another command or server; try again when it is done'
  }
  return whyNot(cause, purpose) ?? `cannot be opened: ${messageOf(cause)}`
}

function assertSqliteVersion(database: DatabaseSync): void {
  const version = String(Object.values(database.prepare('SELECT sqlite_version()').get() ?? {})[0])
  const parts = version.split('.').map(Number)
  const difference = sqliteVersionMin.map((least, index) => (parts[index] ?? 0) - least).find((step) => step !== 0) ?? 0
  if (difference < 0) {
    throw new OperatorError(
      `SQLite ${sqliteVersionMin.join('.')} or newer is needed, this Node.js has ${version}; update Node.js`,
    )
  }
}

function readPragma(database: DatabaseSync, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]
}
