// Backs up a store beside a running server, restores it, and checks it.

import { existsSync, lstatSync, realpathSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { OperatorError, SettingError } from '../../../domain/errors.ts'
import type { BackupOptions, BackupReport, BackupTarget, CheckReport, FileFacts, StoreOptions } from '../../engine.ts'
import { copyDurably, nameDurably, renameDurably, syncFolder, writeWhole } from '../../files.ts'
import { assertFolderOf, assertReadableFile, explained, statThere, toAbsolute } from '../../paths.ts'
import { copyChecked } from '../file/apart.ts'
import { checkHeader, explainOpenFailure, hasFailed, inUse, makeFile } from '../file/database.ts'
import {
  assertNotEmpty,
  assertReadable,
  copyDatabase,
  count,
  examine,
  problemsOf,
  readUntouched,
} from '../file/examine.ts'
import { findPlainDamage, readHeader } from '../file/header.ts'
import { takeLock, untilWhole } from '../file/lock.ts'
import { assertNoStoreFile, filesOfStore, findBeside, realPathOf, removeBeside } from '../file/names.ts'
import { idOfSeries, nameOfBackup, noteBackup, prune } from './backup-series.ts'

export async function backupSqlite(
  store: string,
  target: BackupTarget,
  { limits, clock, stopping }: BackupOptions,
): Promise<BackupReport> {
  const busyMsMax = limits.storeBusyMsMax
  const keep = 'keep' in target ? target.keep : undefined
  const { path, id } = await findReadable(store, { limits, clock }, keep !== undefined)
  const files = filesFor(target, path, clock.wallMs())
  let file = files.next().value
  assertFree(file)
  assertNoStoreFile(file, filesOfStore(path))
  const give = (partial: string): boolean => {
    const isNamed = nameDurably(partial, toAbsolute(file))
    if (isNamed || 'file' in target) return isNamed
    file = files.next().value
    return give(partial)
  }
  const facts = await writeWhole(toAbsolute(file), give, (partial) =>
    copyChecked({ kind: 'copy', store: path, partial, file, busyMsMax }, stopping),
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

/** The file of a target; in a folder, the free one of each millisecond: another backup may have begun in the same. */
function* filesFor(target: BackupTarget, store: string, nowMs: number): Generator<string, never> {
  for (let atMs = nowMs; ; atMs += 1) {
    const file = 'file' in target ? target.file : join(target.folder, nameOfBackup(store, atMs))
    if ('file' in target || !isTaken(file)) yield file
  }
}

/** The real path of a store and, if it is needed, the id of the store and its backups. */
async function findReadable(
  store: string,
  options: Pick<BackupOptions, 'limits' | 'clock'>,
  needsId: boolean,
): Promise<{ readonly path: string; readonly id: string }> {
  try {
    assertThere(store)
    const path = realPathOf(store)
    await untilWhole(path, options)
    assertReadable(path)
    return { path, id: needsId ? idOfSeries(path, options.limits.storeBusyMsMax) : '' }
  } catch (cause) {
    throw explainOpenFailure(cause, store, 'read')
  }
}

/** Throws OperatorError unless a new file can be created at a path. Does not create folders. */
function assertFree(file: string): void {
  assertFolderOf(file)
  if (isTaken(file)) throw new OperatorError(`${file} exists already; name another file`)
  const [left] = findBeside(file)
  if (left !== undefined) {
    throw new OperatorError(`${left} exists and would be taken for a part of ${file}; remove it, or name another file`)
  }
}

function isTaken(file: string): boolean {
  return explained(file, 'written', () => lstatSync(file, { throwIfNoEntry: false }) !== undefined)
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
    const isThere = (statThere(store)?.size ?? 0) > 0
    if (isThere && realpathSync(store) === realpathSync(file)) throw new OperatorError(`${file} is the store itself`)
    if (isThere && !force) throw existsAlready(store)
    makeFile(toAbsolute(store))
    const path = realPathOf(store)
    using restoring = new DisposableStack()
    const lock = takeLock(path, busyMsMax, 'restore')
    if (lock === undefined) throw inUse(path, `${store} is in use by a plantstore server; stop it first`)
    restoring.defer(() => lock.release())
    const incoming = `${path}.restoring`
    restoring.defer(() => removeCopy(incoming))
    if (!isThere) {
      removeBeside(path)
      restoring.use(holdAlone(path, busyMsMax))
      // A server or a command may have created the store before the lock was taken.
      if (statSync(path).size > 0) throw existsAlready(store)
    }
    removeCopy(incoming)
    readUntouched(file, busyMsMax, (source) => copyDatabase(source, incoming))
    const facts = await examine(incoming, busyMsMax, file)
    if (isThere) replaceOld(path, incoming, busyMsMax)
    else takeName(incoming, path)
    return facts
  } catch (cause) {
    throw explainOpenFailure(cause, store)
  }
}

function existsAlready(store: string): OperatorError {
  return new OperatorError(`${store} exists already; add --force to replace it`)
}

export async function checkSqlite(
  store: string,
  { limits, clock }: Pick<StoreOptions, 'limits' | 'clock'>,
): Promise<CheckReport> {
  const path = toAbsolute(store)
  try {
    assertThere(path)
    const realPath = realPathOf(path)
    await untilWhole(realPath, { limits, clock })
    assertNotEmpty(realPath)
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
 * Replaces a store that no other process has open. Checkpoints the old store and locks it until the rename is done, so
 * that no process writes to it meanwhile.
 */
function replaceOld(path: string, incoming: string, busyMsMax: number): void {
  using old = holdAlone(path, busyMsMax)
  if (old === undefined) copyAside(path)
  takeName(incoming, path)
}

/** Removes the files beside the old store, which SQLite would apply to the new one. */
function takeName(incoming: string, path: string): void {
  removeBeside(path)
  renameDurably(incoming, path)
}

/**
 * Opens a store exclusively, and empties its log. Returns undefined if it is too damaged.
 *
 * @throws OperatorError if another process has it open; an SQLite error if it is read-only or its disk is full.
 */
function holdAlone(path: string, busyMsMax: number): DatabaseSync | undefined {
  if (findPlainDamage(path) !== undefined) return undefined
  const database = new DatabaseSync(path, { timeout: busyMsMax })
  try {
    // Fails while any other connection is open, even a read-only one. The lock outlasts the transaction. A COMMIT would
    // turn an empty file into a database, so roll back.
    const end = statSync(path).size === 0 ? 'ROLLBACK' : 'COMMIT'
    database.exec(`PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ${end}`)
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
    if (!existsSync(path + suffix)) continue
    copyDurably(path + suffix, aside + suffix)
  }
  syncFolder(dirname(path))
}

function removeCopy(path: string): void {
  rmSync(path, { force: true })
  removeBeside(path)
}
