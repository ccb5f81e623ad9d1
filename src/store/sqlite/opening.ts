// Opens the store in a file: what stands in the way of it, who else has it, and whether it is sound.

import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { MissingStoreError, OperatorError } from '../../domain/errors.ts'
import type { Store } from '../../domain/store.ts'
import type { StoreOptions } from '../engine.ts'
import { isThere, toAbsolute } from '../paths.ts'
import { assertSound, findPlainDamage, findSchemaDamage } from './file/damage.ts'
import { assertLocks, checkHeader, explainOpenFailure, makeFile, openReadable } from './file/database.ts'
import { ChangedError, readUntouched } from './file/examine.ts'
import { isHotJournal } from './file/header.ts'
import { LostFileError } from './file/identity.ts'
import { findMissing } from './file/in-use.ts'
import { isRestored, isServed, type Lock, takeLock } from './file/lock.ts'
import { realPathOf } from './file/place.ts'
import { quickCheck } from './file/quick-check.ts'
import { beginSoundnessCheck, type SoundnessCheck } from './file/soundness.ts'
import { SqliteStore } from './store.ts'
import { WriterThread } from './writer.ts'
import type { WriterOptions } from './writer-messages.ts'

/**
 * Opens the store in a file, making file and folders when they are missing.
 *
 * @throws MissingStoreError when it is missing and may not be made; OperatorError when the file cannot be opened, is no
 * store, is of a newer version or is in use.
 */
export async function openSqliteStore(file: string, options: StoreOptions): Promise<Store> {
  const path = toAbsolute(file)
  if (!options.mayMake && !isThere(path)) throw new MissingStoreError(`there is no store at ${path}`)
  let lock: Lock | undefined
  let writer: WriterThread | undefined
  let reader: DatabaseSync | undefined
  let check: SoundnessCheck | undefined
  try {
    makeFile(path)
    const realPath = toRealPath(path)
    // Looked at before anything is made beside it: another program's file is left as it is.
    checkHeader(realPath)
    assertSound(path, findPlainDamage(realPath))
    assertStore(realPath, options.limits.storeBusyMsMax)
    const opened = await openWriter(realPath, options)
    lock = opened.lock
    writer = opened.writer
    reader = openReadable(realPath, options.limits.storeBusyMsMax, options.limits.cacheBytes)
    if (options.exclusive) check = await checkSoundness(realPath, reader, options)
    // A command holds the lock only until the store is open.
    else lock?.release()
    return new SqliteStore(
      { path: realPath, writer, reader, lock: options.exclusive ? lock : undefined, check },
      options,
    )
  } catch (cause) {
    check?.stop()
    reader?.close()
    await writer?.close()
    lock?.release()
    throw explainOpenFailure(cause, path)
  }
}

/** A command that ends takes the log and its index with it, just as another one opens the store: that one tries again. */
async function openWriter(
  path: string,
  options: StoreOptions,
): Promise<{ readonly lock: Lock | undefined; readonly writer: WriterThread }> {
  const { clock, limits } = options
  const deadlineMs = clock.monotonicMs() + limits.storeLockMsMax
  for (let waitMsMax = 0; ; waitMsMax = limits.storeLockTurnMs) {
    const lock = await lockFor(path, options, waitMsMax)
    try {
      return { lock, writer: await WriterThread.start(writerOptions(path, options, lock !== undefined)) }
    } catch (cause) {
      lock?.release()
      if (!(cause instanceof LostFileError) || clock.monotonicMs() >= deadlineMs) throw cause
      await sleep(limits.storeLockCheckMs)
    }
  }
}

/** One file has one lock, whatever name opens it; only hard links have locks of their own. */
function toRealPath(path: string): string {
  const realPath = realPathOf(path)
  if (statSync(realPath).nlink === 1) return realPath
  throw new OperatorError(
    `${path} has other names (hard links), under which another server could open it; make a copy and use that`,
  )
}

/**
 * Throws OperatorError when a file is no store, or of another version that cannot be brought up to date. Nothing is
 * made beside it or changed. Where another process changes it, or has to undo a change that was interrupted before the
 * log was turned on, the connection that writes looks again before it changes anything.
 */
function assertStore(path: string, busyMsMax: number): void {
  if (statSync(path).size === 0 || isHotJournal(`${path}-journal`)) return
  try {
    readUntouched(path, busyMsMax, (database) => assertSound(path, findSchemaDamage(database, path)))
  } catch (cause) {
    if (!(cause instanceof ChangedError)) throw cause
  }
}

/**
 * Looks through all pages of a server's store: of a small one before its first answer, of a large one, by a process
 * that is given here, while it serves.
 */
async function checkSoundness(
  path: string,
  reader: DatabaseSync,
  { limits }: StoreOptions,
): Promise<SoundnessCheck | undefined> {
  if (statSync(path).size <= limits.storeCheckBytesMax) {
    const verdict = quickCheck(() => reader)
    if (verdict.kind === 'damaged') assertSound(path, verdict.problem)
    return undefined
  }
  const check = beginSoundnessCheck(path)
  const verdict = await check.firstVerdict(limits.storeCheckMsMax)
  if (verdict.kind === 'damaged') assertSound(path, verdict.problem)
  return check
}

/**
 * A server waits a moment for a command that has the lock. A command takes it when no server has it, else goes on
 * beside it; but not beside a restore, which gives the file's name to another one, nor without the server's log.
 *
 * @param waitMsMax how long a command waits for its turn.
 */
async function lockFor(
  path: string,
  { exclusive, clock, limits }: StoreOptions,
  waitMsMax: number,
): Promise<Lock | undefined> {
  if (exclusive) {
    const lock = takeLock(path, limits.storeLockMsMax, 'server')
    if (lock !== undefined) return lock
    assertLocks(path)
    throw new OperatorError(`${path} is in use by another plantstore server; stop it or name another file`)
  }
  const deadlineMs = clock.monotonicMs() + limits.storeLockMsMax
  for (;;) {
    const lock = takeLock(path, waitMsMax, 'server')
    if (lock !== undefined) return lock
    const obstacle = isRestored(path)
      ? `${path} is being restored; try again when the restore is done`
      : findMissing(path)
    if (obstacle === undefined && isServed(path)) return undefined
    if (obstacle !== undefined && clock.monotonicMs() >= deadlineMs) {
      assertLocks(path)
      throw new OperatorError(obstacle)
    }
    // A reader holds its lock for a moment, too.
    await sleep(limits.storeLockCheckMs)
  }
}

function writerOptions(path: string, { limits }: StoreOptions, isAlone: boolean): WriterOptions {
  const { storeBusyMsMax, storeWatchMs, logBytesKept, cacheBytes, checkpointJobs } = limits
  const { idempotencyKeyMs, expiredKeysDeleted } = limits
  return {
    path,
    isAlone,
    storeBusyMsMax,
    storeWatchMs,
    logBytesKept,
    cacheBytes,
    checkpointJobs,
    idempotencyKeyMs,
    expiredKeysDeleted,
  }
}
