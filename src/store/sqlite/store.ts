// The Store on one SQLite file: changes go through the writer thread in batches, reads are answered here.

import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { AppError, MissingStoreError, OperatorError } from '../../domain/errors.ts'
import { type NewPlant, type Plant, plantOf } from '../../domain/plant.ts'
import type { PlantImport, PlantPage, PlantQuery, Store } from '../../domain/store.ts'
import type { Token } from '../../domain/token.ts'
import type { StoreOptions } from '../engine.ts'
import { GroupedStore } from '../grouped-store.ts'
import { isThere } from '../paths.ts'
import { tokenColumns, toToken } from '../rows.ts'
import { findPlainDamage, findSchemaDamage } from './damage.ts'
import {
  checkHeader,
  explainOpenFailure,
  isPassing,
  makeFile,
  openReadable,
  resultCode,
  sqliteResultCode,
} from './database.ts'
import { FileIdentity } from './identity.ts'
import { SqliteImport } from './import.ts'
import { isServed, type Lock, takeLock } from './lock.ts'
import type { WriterOptions } from './messages.ts'
import { isUpToDate } from './migrations.ts'
import { Pages } from './pages.ts'
import { quickCheck } from './quick-check.ts'
import { beginSoundnessCheck, type SoundnessCheck } from './soundness.ts'
import { WriterThread } from './writer-thread.ts'

/**
 * Opens the store in a file, making file and folders when they are missing.
 *
 * @throws MissingStoreError when it is missing and may not be made; OperatorError when the file cannot be opened, is no
 * store, is of a newer version or is in use.
 */
export async function openSqliteStore(file: string, options: StoreOptions): Promise<Store> {
  const path = resolve(file)
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
    if (statSync(realPath).size > 0) assertStore(realPath, options.limits.storeBusyMsMax)
    lock = lockFor(realPath, options)
    writer = await WriterThread.start(writerOptions(realPath, options, lock !== undefined))
    reader = openReadable(realPath, options.limits.storeBusyMsMax)
    assertSound(path, findSchemaDamage(reader))
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

/** What a store is put together from. */
interface Parts {
  /** The file, by its real path. */
  readonly path: string
  readonly writer: WriterThread
  readonly reader: DatabaseSync
  /** A server's. */
  readonly lock: Lock | undefined
  readonly check: SoundnessCheck | undefined
}

class SqliteStore extends GroupedStore implements Store {
  readonly #path: string
  readonly #writer: WriterThread
  readonly #reader: DatabaseSync
  readonly #lock: Lock | undefined
  readonly #check: SoundnessCheck | undefined
  readonly #options: StoreOptions
  readonly #pages: Pages
  readonly #findPlant: StatementSync
  readonly #findToken: StatementSync
  readonly #listTokens: StatementSync
  readonly #watch: NodeJS.Timeout
  #closed: Promise<void> | undefined

  constructor({ path, writer, reader, lock, check }: Parts, options: StoreOptions) {
    super((jobs) => writer.commit(jobs), options)
    this.#path = path
    this.#writer = writer
    this.#reader = reader
    this.#lock = lock
    this.#check = check
    this.#options = options
    this.#pages = new Pages(reader, options.limits)
    this.#findPlant = reader.prepare('SELECT name, tag FROM plants WHERE id = ?')
    this.#findToken = prepareRows(reader, `SELECT ${tokenColumns} FROM tokens WHERE hash = ?`)
    this.#listTokens = prepareRows(reader, `SELECT ${tokenColumns} FROM tokens ORDER BY created_at_ms, id`)
    this.#watch = this.#watchFiles()
    void check?.finished.then((verdict) => {
      if (verdict.kind === 'damaged') writer.fail(new Error(`the store is damaged: ${verdict.problem}`))
    })
  }

  get isAvailable(): boolean {
    return !this.failed.aborted
  }

  get failed(): AbortSignal {
    return this.#writer.failed
  }

  async getPlant(id: bigint): Promise<Plant | undefined> {
    const row = this.#read(() => this.#findPlant.get(id))
    return row && plantOf(row as { name: string; tag: string | null })
  }

  async listPlants(query: PlantQuery): Promise<PlantPage> {
    return this.#read(() => this.#pages.list(query))
  }

  async beginImport({ isWhole }: { readonly isWhole: boolean }): Promise<PlantImport> {
    const isServedByOther = (): boolean => this.#lock === undefined && isServed(this.#path)
    return new SqliteImport(this.#writer, { ...this.#options, isWhole, isServed: isServedByOther })
  }

  /** On a connection of its own, whose read transaction is the moment: other reads go on seeing what is new. */
  async *exportPlants(tag?: string): AsyncGenerator<readonly NewPlant[]> {
    const { limits } = this.#options
    const reader = this.#read(() => openReadable(this.#path, limits.storeBusyMsMax))
    try {
      const batches = new Pages(reader, limits).all(limits.exportBatchPlants, tag)
      for (;;) {
        const batch = this.#read(() => batches.next())
        if (batch.done) return
        yield batch.value
      }
    } finally {
      reader.close()
    }
  }

  async findToken(hash: Uint8Array): Promise<Token | undefined> {
    const row = this.#read(() => this.#findToken.get(hash))
    return row && toToken(row)
  }

  async listTokens(): Promise<readonly Token[]> {
    return this.#read(() => this.#listTokens.all()).map(toToken)
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    await this.closeGroups()
    clearInterval(this.#watch)
    this.#check?.stop()
    this.#reader.close()
    await this.#writer.close()
    this.#lock?.release()
  }

  /** The writer thread looks after each commit; this is for a store that only reads. */
  #watchFiles(): NodeJS.Timeout {
    const files = new FileIdentity(this.#path, this.#writer.fileNames)
    const watch = setInterval(() => {
      try {
        files.check()
      } catch (cause) {
        this.#writer.fail(cause)
      }
    }, this.#options.limits.storeWatchMs)
    return watch.unref()
  }

  /** A read that fails, as on a damaged file, breaks the store as a failed write does. */
  #read<T>(read: () => T): T {
    if (this.failed.aborted)
      throw new AppError('storeUnavailable', 'the store has failed', { cause: this.failed.reason })
    if (this.#closed !== undefined) throw new AppError('shuttingDown', 'the server is shutting down')
    try {
      return read()
    } catch (cause) {
      if (isPassing(cause)) throw new AppError('overloaded', 'the store is out of resources, try again', { cause })
      this.#writer.fail(cause)
      throw new AppError('storeUnavailable', 'the store has failed', { cause })
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** One file has one lock, by whatever name it is opened; only of hard links the lock knows nothing. */
function toRealPath(path: string): string {
  const realPath = realpathSync(path)
  if (statSync(realPath).nlink === 1) return realPath
  throw new OperatorError(
    `${path} has other names (hard links), by which another server could open it; make a copy of it`,
  )
}

/** Throws OperatorError when a file is no store, or of a newer version. */
function assertStore(path: string, busyMsMax: number): void {
  const database = openReadable(path, busyMsMax)
  try {
    isUpToDate(database, path)
  } catch (cause) {
    // A change that was interrupted before the log was turned on: who writes undoes it, and looks again.
    if (sqliteResultCode(cause) !== resultCode.readOnly) throw cause
  } finally {
    database.close()
  }
}

function assertSound(path: string, damage: string | undefined): void {
  if (damage !== undefined) throw new OperatorError(`${path} is damaged: ${damage}; restore a backup`)
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
 * beside it.
 */
function lockFor(path: string, { exclusive, limits }: StoreOptions): Lock | undefined {
  if (!exclusive) {
    for (;;) {
      const lock = takeLock(path, 0)
      // Somebody who only looks is in the way for a moment.
      if (lock !== undefined || isServed(path)) return lock
    }
  }
  const lock = takeLock(path, limits.storeLockMsMax)
  if (lock !== undefined) return lock
  throw new OperatorError(`${path} is in use by another plantstore server; stop it or name another file`)
}

function writerOptions(path: string, { limits }: StoreOptions, isAlone: boolean): WriterOptions {
  const { storeBusyMsMax, logBytesKept, cacheBytes, checkpointJobs, idempotencyKeyMs, expiredKeysDeleted } = limits
  return {
    path,
    isAlone,
    storeBusyMsMax,
    logBytesKept,
    cacheBytes,
    checkpointJobs,
    idempotencyKeyMs,
    expiredKeysDeleted,
  }
}

function prepareRows(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql)
  statement.setReturnArrays(true)
  return statement
}
