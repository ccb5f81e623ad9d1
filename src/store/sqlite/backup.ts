// Backs up a store beside a running server, restores it, and checks it.

import { existsSync, lstatSync, readdirSync, realpathSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { codeOf, messageOf, OperatorError, SettingError } from '../../domain/errors.ts'
import type {
  BackupOptions,
  BackupReport,
  BackupTarget,
  CheckReport,
  FileFacts,
  PruneReport,
  StoreOptions,
} from '../engine.ts'
import { copyDurably, nameDurably, renameDurably, syncFolder, withFile, writeWhole } from '../files.ts'
import { assertFolderOf, assertReadableFile, explained, explainFileFailure, statThere, toAbsolute } from '../paths.ts'
import { runApart } from './file/apart.ts'
import { explainOpenFailure, hasFailed, inUse, makeFile } from './file/database.ts'
import { assertReadable, copyDatabase, count, examine, problemsOf, readUntouched } from './file/examine.ts'
import { DamageError, findPlainDamage, readHeader } from './file/header.ts'
import { readStoreId } from './file/migrations.ts'
import {
  assertNoStoreFile,
  filesOfStore,
  findBeside,
  findMissing,
  realPathOf,
  removeBeside,
  takeLock,
  untilFree,
} from './file/names.ts'

export async function backupSqlite(
  store: string,
  target: BackupTarget,
  { limits, clock, stopping }: BackupOptions,
): Promise<BackupReport> {
  const busyMsMax = limits.storeBusyMsMax
  const path = await findReadable(store, { limits, clock })
  let atMs = clock.wallMs()
  const fileOf = (): string => ('file' in target ? target.file : join(target.folder, nameOfBackup(path, atMs)))
  while ('folder' in target && isTaken(fileOf())) atMs += 1
  assertFree(fileOf())
  assertNoStoreFile(fileOf(), filesOfStore(path))
  const give = (partial: string): boolean => {
    // A concurrent backup to the folder may have begun in the same millisecond.
    for (; !nameDurably(partial, toAbsolute(fileOf())); atMs += 1) if ('file' in target) return false
    return true
  }
  const facts = await writeWhole(toAbsolute(fileOf()), give, (partial) =>
    runApart<FileFacts>({ kind: 'copy', store: path, partial, file: fileOf(), busyMsMax }, stopping),
  ).catch((cause) => {
    throw explainOpenFailure(cause, fileOf())
  })
  const file = fileOf()
  if (facts === undefined) throw existsAlready(file, 'name another file')
  const doubts = noteBackup(path)
  if ('file' in target || target.keep === undefined) return { ...facts, file, removed: [], doubts, problems: [] }
  const { folder, keep } = target
  const pruned = prune({ store: path, folder, latest: basename(file), keep, nowMs: clock.wallMs(), busyMsMax })
  return { ...facts, file, ...pruned, doubts: [...doubts, ...pruned.doubts] }
}

/** The real path of a store that can be read. */
async function findReadable(store: string, options: Pick<BackupOptions, 'limits' | 'clock'>): Promise<string> {
  try {
    assertThere(store)
    const path = realPathOf(store)
    await untilFree(path, options, () => findMissing(path))
    assertReadable(path)
    return path
  } catch (cause) {
    throw explainOpenFailure(cause, store, 'read')
  }
}

function assertThere(path: string): void {
  const facts = statSync(path, { throwIfNoEntry: false })
  if (facts?.isFile() === true) return
  if (facts !== undefined) throw new SettingError(`${path} is not a file; name one with --store`)
  const [left] = findBeside(path)
  throw new OperatorError(
    left === undefined
      ? `there is no store at ${path}; name one with --store`
      : `there is no store at ${path}, only ${left}, which is useless without its store; restore a backup`,
  )
}

/** Throws OperatorError unless a new file can be created at a path. Does not create folders. */
function assertFree(file: string): void {
  assertFolderOf(file)
  if (isTaken(file)) throw existsAlready(file, 'name another file')
  const [left] = findBeside(file)
  if (left !== undefined) {
    throw new OperatorError(`${left} exists and would be taken for a part of ${file}; remove it, or name another file`)
  }
}

function isTaken(file: string): boolean {
  return explained(file, 'written', () => lstatSync(file, { throwIfNoEntry: false }) !== undefined)
}

function existsAlready(file: string, advice: string): OperatorError {
  return new OperatorError(`${file} exists already; ${advice}`)
}

export async function checkSqlite(
  store: string,
  { limits, clock }: Pick<StoreOptions, 'limits' | 'clock'>,
): Promise<CheckReport> {
  const path = toAbsolute(store)
  try {
    await findReadable(path, { limits, clock })
    return readUntouched(path, limits.storeBusyMsMax, (database) => {
      const problems = problemsOf(database, path)
      return { problems, plants: problems.length === 0 ? count(database, 'plants') : 0 }
    })
  } catch (cause) {
    if (cause instanceof DamageError) return { problems: [cause.damage], plants: 0 }
    throw explainOpenFailure(cause, path, 'read')
  }
}

export async function restoreSqlite(
  file: string,
  store: string,
  force: boolean,
  busyMsMax: number,
): Promise<FileFacts> {
  assertReadableFile(file)
  // A store that is mounted as a single file would lack its log. A backup has none.
  if (readHeader(file)?.hasLog === true) realPathOf(file)
  await examine(file, busyMsMax)
  try {
    const facts = statThere(store)
    const isThere = (facts?.size ?? 0) > 0
    if (isThere && realpathSync(store) === realpathSync(file)) throw new OperatorError(`${file} is the store itself`)
    if (isThere && !force) throw existsAlready(store, 'add --force to replace it')
    makeFile(toAbsolute(store))
    const path = realPathOf(store)
    using lock = takeLock(path, busyMsMax, 'restore')
    if (lock === undefined) throw inUse(path, `${store} is in use by a plantstore server; stop it first`)
    // A server or a command may have created the store before the lock was taken.
    if (!isThere && statSync(path).size > 0) throw existsAlready(store, 'add --force to replace it')
    using made = new DisposableStack()
    if (facts === undefined) made.defer(() => removeEmpty(path))
    // SQLite would play back the journal of an earlier store.
    if (!isThere) removeBeside(path)
    using old = holdAlone(path, busyMsMax)
    const take = (partial: string): boolean => {
      if (old === undefined) copyAside(path)
      // SQLite would apply the files beside the old store to the new one.
      removeBeside(path)
      return renameDurably(partial, path)
    }
    const written = await writeWhole(path, take, (partial) => {
      readUntouched(file, busyMsMax, (source) => copyDatabase(source, partial))
      return examine(partial, busyMsMax, file)
    })
    return written as FileFacts
  } catch (cause) {
    throw explainOpenFailure(cause, store)
  }
}

/** Removes the file that a failed restore made, unless it has been replaced by the restored one. */
function removeEmpty(path: string): void {
  if (statThere(path)?.size === 0) rmSync(path)
}

/**
 * Opens a store exclusively and empties its log, so that no process writes to it until the connection is closed. Returns
 * undefined if it is too damaged.
 *
 * @throws OperatorError if another process has it open; an SQLite error if it is read-only or its disk is full.
 */
function holdAlone(path: string, busyMsMax: number): DatabaseSync | undefined {
  if (findPlainDamage(path) !== undefined) return undefined
  const database = new DatabaseSync(path, { timeout: busyMsMax })
  try {
    // Fails while any other connection is open, even a read-only one. The lock outlasts the transaction. A COMMIT would
    // turn an empty file into a database.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK')
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    return database
  } catch (cause) {
    database.close()
    if (hasFailed(cause, 'busy', 'locked')) {
      throw new OperatorError(`${path} is in use by another plantstore command; wait for it to end`)
    }
    if (hasFailed(cause, 'readOnly', 'full')) throw cause
    return undefined
  }
}

/** Copies a damaged store to another name. A rename would leave its own name without a file for a moment. */
function copyAside(path: string): void {
  const aside = `${path}.damaged-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
  for (const suffix of ['', '-wal', '-journal']) {
    if (existsSync(path + suffix)) withFile(path + suffix, 'r', (from) => copyDurably(from, aside + suffix))
  }
  syncFolder(dirname(path))
}

const suffix = '.db'

/** The name of a backup, such as `plants-2026-11-22T09-15-00-000Z.db`. `store` is a real path. */
export function nameOfBackup(store: string, atMs: number): string {
  return `${seriesOf(store)}${stampOf(atMs)}${suffix}`
}

/**
 * Records that a backup is complete: as the mtime of an empty file beside the store, because a backup does not change the
 * store. Returns a warning if that fails.
 */
function noteBackup(store: string): readonly string[] {
  const path = markOf(store)
  try {
    // Replace an existing file: it may belong to another user, or be a link to an unrelated file.
    rmSync(path, { force: true })
    writeFileSync(path, '', { flag: 'wx' })
    return []
  } catch (cause) {
    return [`the metrics do not show this backup: ${messageOf(cause)}`]
  }
}

/** The time of the last backup; 0 if there was none. */
export function readBackupMs(store: string): number {
  return statThere(markOf(store))?.mtimeMs ?? 0
}

function markOf(store: string): string {
  return `${store}.backed-up`
}

export interface PruneOptions {
  /** The real path of the store. */
  readonly store: string
  readonly folder: string
  /** The name of the new backup. It is kept, as are newer ones of concurrent commands. */
  readonly latest: string
  /** Number of backups to keep, including the latest one; at least 1. */
  readonly keep: number
  readonly nowMs: number
  readonly busyMsMax: number
}

/** Removes the oldest backups of a series, beyond those to keep. */
export function prune(pruning: PruneOptions): PruneReport {
  const { folder, latest, keep, nowMs, store } = pruning
  const [removed, doubts, problems]: [string[], string[], string[]] = [[], [], []]
  const report = { removed, doubts, problems }
  try {
    const others = findOthers(pruning, doubts)
    const ahead = others.find((name) => String(stampIn(name, store)) > stampOf(nowMs))
    if (ahead !== undefined) {
      problems.push(`nothing was removed: ${join(folder, ahead)} is dated in the future; is the clock right?`)
      return report
    }
    const excess = others.slice(0, Math.max(others.length + 1 - keep, 0)).filter((name) => name < latest)
    for (const name of excess) {
      const path = join(folder, name)
      try {
        unlinkSync(path)
        removed.push(path)
      } catch (cause) {
        if (codeOf(cause) !== 'ENOENT') problems.push(`${path} could not be removed: ${messageOf(cause)}`)
      }
    }
    if (removed.length > 0) syncFolder(folder)
  } catch (cause) {
    // A concurrent command has a newer backup, and has removed the latest of this one. It removes the others, too.
    const isRemoved = codeOf(cause) === 'ENOENT' && existsSync(folder)
    if (!isRemoved) problems.push(explainFileFailure(cause, folder, 'read').message)
  }
  return report
}

/** The names of the other backups of the series, oldest first. */
function findOthers({ store, folder, latest, busyMsMax }: PruneOptions, doubts: string[]): readonly string[] {
  const idOf = (name: string): string | undefined => readUntouched(join(folder, name), busyMsMax, readStoreId)
  const id = idOf(latest)
  const named = readdirSync(folder).filter((name) => name !== latest && stampIn(name, store) !== undefined)
  return named.sort().filter((name) => {
    const path = join(folder, name)
    try {
      assertBackup(path)
      return idOf(name) === id
    } catch (cause) {
      if (codeOf(cause) !== 'ENOENT')
        doubts.push(`${path} was left alone: ${explainOpenFailure(cause, path, 'read').message}`)
      return false
    }
  })
}

/**
 * Throws OperatorError if a file may not be a backup. The header of a store that was ever opened for writing shows WAL
 * mode; that of a backup does not.
 */
function assertBackup(path: string): void {
  if (!lstatSync(path).isFile()) throw new OperatorError('it is not a regular file')
  const [beside] = findBeside(path)
  if (beside !== undefined) throw new OperatorError(`it may be in use, as ${beside} exists`)
  if (readHeader(path)?.hasLog !== false) throw new OperatorError('it is not a backup')
}

/** The common beginning of the names of the backups of a store. */
function seriesOf(store: string): string {
  const name = basename(store)
  return `${name.slice(0, name.length - extname(name).length)}-`
}

function stampOf(ms: number): string {
  return new Date(ms).toISOString().replaceAll(/[:.]/g, '-')
}

/** The timestamp in the name of a backup; undefined for any other name. */
function stampIn(name: string, store: string): string | undefined {
  const series = seriesOf(store)
  if (!name.startsWith(series) || !name.endsWith(suffix)) return undefined
  const stamp = name.slice(series.length, name.length - suffix.length)
  const ms = Date.parse(stamp.replace(/T(\d\d)-(\d\d)-(\d\d)-(\d{3}Z)$/, 'T$1:$2:$3.$4'))
  return !Number.isNaN(ms) && stampOf(ms) === stamp ? stamp : undefined
}
