// Copies of a store as files: taken beside a running server, put back, and checked.

import { existsSync, lstatSync, realpathSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../../domain/clock.ts'
import { OperatorError, SettingError } from '../../../domain/errors.ts'
import type {
  BackupOptions,
  BackupReport,
  BackupTarget,
  CheckReport,
  FileFacts,
  StoreLimits,
  StoreOptions,
} from '../../engine.ts'
import { copyDurably, nameDurably, renameDurably, syncFolder, writeWhole } from '../../files.ts'
import { assertFolderOf, assertReadableFile, statThere, toAbsolute } from '../../paths.ts'
import { assertNotEmpty, findBeside, removeBeside } from '../file/beside.ts'
import { findPlainDamage } from '../file/damage.ts'
import {
  assertLocks,
  checkHeader,
  explainOpenFailure,
  makeFile,
  resultCode,
  sqliteResultCode,
} from '../file/database.ts'
import { assertReadable, copyDatabase, count, examine, problemsOf, readUntouched } from '../file/examine.ts'
import { readHeader } from '../file/header.ts'
import { untilWhole } from '../file/in-use.ts'
import { type Lock, takeLock } from '../file/lock.ts'
import { assertNoStoreFile, filesOfStore } from '../file/own-files.ts'
import { realPathOf } from '../file/place.ts'
import { idOfSeries, nameOfBackup, prune } from './backup-series.ts'
import { noteBackup } from './backup-time.ts'
import { copyChecked } from './copying.ts'

/**
 * Writes a store as it is at one moment to a file, while servers go on, and reads it back whole. Older backups are
 * removed only when the new one has its name on disk.
 *
 * @throws OperatorError when the file is there, cannot be written, or is not whole, or the command was stopped.
 */
export async function backupSqlite(
  store: string,
  target: BackupTarget,
  { limits, clock, stopping }: BackupOptions,
): Promise<BackupReport> {
  const busyMsMax = limits.storeBusyMsMax
  const keep = 'keep' in target ? target.keep : undefined
  const path = await findReadable(store, limits, clock)
  const id = keep === undefined ? '' : readId(path, store, busyMsMax)
  const file = 'file' in target ? target.file : join(target.folder, nameOfBackup(path, clock.wallMs()))
  assertFree(file)
  assertNoStoreFile(file, filesOfStore(path))
  const facts = await writeWhole(toAbsolute(file), nameDurably, (partial) =>
    copyChecked({ store: path, partial, file, busyMsMax }, stopping),
  ).catch((cause) => {
    throw explainOpenFailure(cause, file)
  })
  if (facts === undefined) throw new OperatorError(`${file} exists already; name another file`)
  const doubts = noteBackup(path)
  if (!('folder' in target) || keep === undefined) return { ...facts, file, removed: [], doubts, problems: [] }
  const { folder } = target
  const pruning = { store: path, id, folder, latest: basename(file), keep, nowMs: clock.wallMs(), busyMsMax }
  const pruned = prune(pruning)
  return { ...facts, file, ...pruned, doubts: [...doubts, ...pruned.doubts] }
}

/** The real path of a store that can be read. */
async function findReadable(store: string, limits: StoreLimits, clock: Clock): Promise<string> {
  try {
    assertThere(store)
    const path = realPathOf(store)
    await untilWhole(path, limits, clock)
    assertReadable(path)
    return path
  } catch (cause) {
    throw explainOpenFailure(cause, store, 'read')
  }
}

/** What tells the backups of a store from those of others. */
function readId(path: string, store: string, busyMsMax: number): string {
  try {
    return idOfSeries(path, busyMsMax)
  } catch (cause) {
    throw explainOpenFailure(cause, store, 'read')
  }
}

/** Throws OperatorError unless a new file can be made under a path. A backup makes no folders. */
function assertFree(file: string): void {
  assertFolderOf(file)
  try {
    if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) {
      throw new OperatorError(`${file} exists already; name another file`)
    }
  } catch (cause) {
    throw explainOpenFailure(cause, file)
  }
  const [left] = findBeside(file)
  if (left !== undefined) {
    throw new OperatorError(`${left} exists and would be taken for a part of ${file}; remove it, or name another file`)
  }
}

/**
 * Puts a backup, or another store, in the place of a store: the new file is made and checked beside the old one and
 * then takes its name in one step. At any moment the name has the whole old store or the whole new one.
 *
 * @param force whether a store that is there may be replaced. One too damaged to be opened is kept under another name.
 * @throws OperatorError when the backup is not whole, the store is in use, or there without `force`.
 */
export async function restoreSqlite(
  file: string,
  store: string,
  force: boolean,
  busyMsMax: number,
): Promise<FileFacts> {
  assertReadableFile(file)
  // Of a live store the log would be missing; a backup has none.
  if (readHeader(file)?.hasLog === true) realPathOf(file)
  await examine(file, busyMsMax)
  const { path, isThere, lock } = takePlace(file, store, force, busyMsMax)
  if (lock === undefined) {
    assertLocks(path)
    throw new OperatorError(`${store} is in use by a plantstore server; stop it first`)
  }
  const incoming = `${path}.restoring`
  let empty: DatabaseSync | undefined
  try {
    // No process makes one from now on; before, a server or a command may have.
    if (!isThere) removeBeside(path)
    if (!isThere) empty = holdAlone(path, busyMsMax)
    if (!isThere && statSync(path).size > 0) throw new OperatorError(existsAlready(store))
    removeCopy(incoming)
    readUntouched(file, busyMsMax, (source) => copyDatabase(source, incoming))
    const facts = await examine(incoming, busyMsMax, file)
    if (isThere) replaceOld(path, incoming, busyMsMax)
    else takeName(incoming, path)
    return facts
  } catch (cause) {
    throw explainOpenFailure(cause, store)
  } finally {
    empty?.close()
    removeCopy(incoming)
    lock.release()
  }
}

/** Makes sure of the place that a store is to be restored to, and takes its lock. */
function takePlace(
  file: string,
  store: string,
  force: boolean,
  busyMsMax: number,
): { path: string; isThere: boolean; lock: Lock | undefined } {
  try {
    const isThere = (statThere(store)?.size ?? 0) > 0
    if (isThere && realpathSync(store) === realpathSync(file)) throw new OperatorError(`${file} is the store itself`)
    if (isThere && !force) throw new OperatorError(existsAlready(store))
    makeFile(toAbsolute(store))
    const path = realPathOf(store)
    return { path, isThere, lock: takeLock(path, busyMsMax, 'restore') }
  } catch (cause) {
    throw explainOpenFailure(cause, store)
  }
}

function existsAlready(store: string): string {
  return `${store} exists already; add --force to replace it`
}

/** Looks through a whole store, beside a server. Gives what is wrong with it, a line each; nothing when it is whole. */
export async function checkSqlite(
  store: string,
  { limits, clock }: Pick<StoreOptions, 'limits' | 'clock'>,
): Promise<CheckReport> {
  const path = toAbsolute(store)
  try {
    assertThere(path)
    const realPath = realPathOf(path)
    await untilWhole(realPath, limits, clock)
    assertNotEmpty(path)
    checkHeader(path)
    const damage = findPlainDamage(realPath)
    if (damage !== undefined) return { problems: [damage], plants: 0 }
    return readUntouched(path, limits.storeBusyMsMax, (database) => {
      const problems = problemsOf(database, path)
      return { problems, plants: problems.length === 0 ? count(database, 'plants') : 0 }
    })
  } catch (cause) {
    throw explainOpenFailure(cause, path, 'read')
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

/**
 * Has the new file take the name of a store that no process has open. The old one, its log copied into it, is held
 * until the name is the new one's, so that no process writes to it meanwhile.
 */
function replaceOld(path: string, incoming: string, busyMsMax: number): void {
  const old = holdAlone(path, busyMsMax)
  try {
    if (old === undefined) copyAside(path)
    takeName(incoming, path)
  } finally {
    old?.close()
  }
}

/** What lies beside the old store is worth nothing without it, and would be taken for a part of the new one. */
function takeName(incoming: string, path: string): void {
  removeBeside(path)
  renameDurably(incoming, path)
}

/**
 * Opens a store for this process alone, with nothing left in its log. Undefined for one that is too damaged.
 *
 * @throws OperatorError when another process has it open, or it may not be written to.
 */
function holdAlone(path: string, busyMsMax: number): DatabaseSync | undefined {
  if (findPlainDamage(path) !== undefined) return undefined
  const database = new DatabaseSync(path, { timeout: busyMsMax })
  try {
    // While another connection is open, even one that only reads, SQLite does not give this.
    // The lock stays after the transaction; that of an empty file would make it a database by its commit.
    const end = statSync(path).size === 0 ? 'ROLLBACK' : 'COMMIT'
    database.exec(`PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ${end}`)
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    return database
  } catch (cause) {
    database.close()
    switch (sqliteResultCode(cause)) {
      case resultCode.busy:
      case resultCode.locked:
        throw new OperatorError(`${path} is in use by another plantstore command; wait for it to end`)
      case resultCode.readOnly:
      case resultCode.full:
        throw cause
    }
    return undefined
  }
}

/** Keeps a damaged store under another name. By a copy, so that its own name is not without a file for a moment. */
function copyAside(path: string): void {
  const aside = `${path}.damaged-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
  for (const suffix of ['', '-wal', '-journal']) {
    if (!existsSync(path + suffix)) continue
    copyDurably(path + suffix, aside + suffix)
  }
  syncFolder(dirname(path))
}

function removeCopy(path: string): void {
  rmSync(path, { force: true })
  removeBeside(path)
}
