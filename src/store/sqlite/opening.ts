// Opens the store in a file: checks the file, takes the lock, and starts the writer thread.

import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { AppError, MissingStoreError, OperatorError } from '../../domain/errors.ts'
import type { Store } from '../../domain/store.ts'
import type { StoreOptions } from '../engine.ts'
import { explained, statThere, toAbsolute } from '../paths.ts'
import { runApart } from './file/apart.ts'
import { explainOpenFailure, hasFailed, makeFile, openReadable } from './file/database.ts'
import { ChangedError, findPageDamage, readUntouched } from './file/examine.ts'
import { assertSound, DamageError, isHotJournal } from './file/header.ts'
import { findSchemaDamage } from './file/migrations.ts'
import { type Lock, LostFileError, realPathOf, takeLockToOpen } from './file/names.ts'
import { type OpenedFile, SqliteStore } from './store.ts'
import { Thread } from './thread.ts'
import type { Opened, ToWriter, WriterOptions } from './writer-thread.ts'

/** How long to retry opening while exiting commands delete the log. */
const lostMsMax = 15_000
/** How long such a retry waits for the lock. */
const lockTurnMs = 250
/** The space for new objects of the writer thread, in which V8 collects garbage when it is full. */
const newSpaceMegabytes = 4

/**
 * Opens the store in a file. Refuses, in one line each and in this order:
 *
 * 1. a missing store, unless it may be made; a missing folder; a folder, a device or a pipe (`makeFile`);
 * 2. a file that is mounted by itself (`realPathOf`) or has other names (`assertOnlyName`);
 * 3. a file that is no database, was cut short, or has the log of another store beside it; tables of another program or
 *    of a newer version, or that are missing (`assertStore`);
 * 4. a store that another server or a restore holds, or whose server lacks its log (`takeLockToOpen`);
 * 5. a file that cannot be written or synced, is busy, or is on a full disk; an SQLite that is too old (`openWritable`);
 * 6. damaged pages: those of a large file stop the server later (`checkPages`).
 */
export async function openSqliteStore(file: string, options: StoreOptions): Promise<Store> {
  const path = toAbsolute(file)
  if (!options.mayMake && explained(path, 'read', () => statThere(path)) === undefined) {
    throw new MissingStoreError(`there is no store at ${path}`)
  }
  try {
    await using opened = new AsyncDisposableStack()
    makeFile(path)
    const realPath = realPathOf(path)
    assertOnlyName(realPath, path)
    assertStore(realPath, options.limits.storeBusyMsMax)
    const { lock, writer, identity } = await openWriter(realPath, options)
    opened.use(lock)
    opened.defer(() => writer.close({ kind: 'close' }))
    const reader = opened.use(openReadable(realPath, options.limits.storeBusyMsMax))
    const closing = opened.adopt(new AbortController(), (controller) => controller.abort())
    if (options.exclusive) checkPages(realPath, reader, writer, closing.signal, options)
    // A command holds the lock only while it opens the store.
    else lock?.[Symbol.dispose]()
    return new SqliteStore({ path: realPath, writer, identity, reader, resources: opened.move() }, options)
  } catch (cause) {
    if (cause instanceof DamageError) throw new OperatorError(`${cause.message}; restore a backup`, { cause })
    throw explainOpenFailure(cause, path)
  }
}

/**
 * An exiting command deletes the log and its index. If that happens while this process opens the store, try again, with
 * the lock held: no other command can open the store meanwhile, and each open one can only exit.
 */
async function openWriter(
  path: string,
  options: StoreOptions,
): Promise<Pick<OpenedFile, 'writer' | 'identity'> & { readonly lock: Lock | undefined }> {
  const { clock, limits } = options
  const deadlineMs = clock.monotonicMs() + lostMsMax
  let lock: Lock | undefined
  for (let waitMsMax = 0; ; waitMsMax = lockTurnMs) {
    lock ??= await takeLockToOpen(path, options, waitMsMax)
    try {
      return { lock, ...(await startWriter({ path, isAlone: lock !== undefined, limits })) }
    } catch (cause) {
      if (!(cause instanceof LostFileError) || clock.monotonicMs() >= deadlineMs) {
        lock?.[Symbol.dispose]()
        throw cause
      }
      await sleep(limits.storeLockCheckMs)
    }
  }
}

/**
 * Resolves when the store is open for writing. Throws OperatorError if the file cannot be opened, and LostFileError if
 * another process removed a file beside it meanwhile.
 */
async function startWriter(options: WriterOptions): Promise<Pick<OpenedFile, 'writer' | 'identity'>> {
  // By default, a thread collects garbage after each half megabyte, which takes an eighth of the time of an import.
  setFlagsFromString(`--min-semi-space-size=${newSpaceMegabytes}`)
  const writer: Thread<ToWriter> = new Thread('writer-thread', 'plantstore-writer', options, (cause) => {
    writer.send({ kind: 'break' })
    const message = 'the store has failed; it is not known whether this request was done'
    return new AppError('storeUnavailable', message, { cause })
  })
  const opened = await writer.ask<Opened>({ kind: 'open' }).catch(() => {
    throw writer.failed.reason
  })
  if ('identity' in opened) return { writer, identity: opened.identity }
  await writer.terminate()
  throw opened.isLost ? new LostFileError(opened.why) : new OperatorError(opened.why)
}

/** Throws OperatorError if a file has hard links: each name would have a lock of its own. */
function assertOnlyName(realPath: string, path: string): void {
  if (statSync(realPath).nlink === 1) return
  throw new OperatorError(
    `${path} has other names (hard links), under which another server could open it; make a copy and use that`,
  )
}

/**
 * Throws OperatorError if a file is no store, has obvious damage, or has a version that cannot be migrated. Neither
 * changes the file nor creates others, so that nothing is made beside another program's file. If another process opens or
 * changes the file meanwhile, or a hot journal must be played back, as after a power cut in the first start, this check is
 * left to the connection for writes, which has the lock.
 */
function assertStore(path: string, busyMsMax: number): void {
  if (statSync(path).size === 0 || isHotJournal(`${path}-journal`)) return
  try {
    readUntouched(path, busyMsMax, (database) => assertSound(path, findSchemaDamage(database, path)))
  } catch (cause) {
    if (!(cause instanceof ChangedError) && !hasFailed(cause, 'busy')) throw cause
  }
}

/** Checks all pages of a server's store: of a large one while the server runs, which damage then stops. */
function checkPages(
  path: string,
  reader: DatabaseSync,
  writer: Thread<ToWriter>,
  closing: AbortSignal,
  { limits }: StoreOptions,
): void {
  if (statSync(path).size <= limits.storeCheckBytesMax) {
    assertSound(path, findPageDamage(() => reader) || undefined)
    return
  }
  runApart<string>({ kind: 'checkPages', path }, AbortSignal.any([closing, writer.failed])).then(
    (damage) => {
      if (damage !== '') writer.end(new Error(`the store is damaged: ${damage}`))
    },
    // It could not be started, or the store is closing: that proves no damage.
    () => {},
  )
}
