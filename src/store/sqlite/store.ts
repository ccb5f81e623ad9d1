// The Store on one SQLite file: changes go through the writer thread in groups, reads are answered here.

import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, OperatorError } from '../../domain/errors.ts'
import type { NewPlant, Plant } from '../../domain/plant.ts'
import type { OnConflict, PlantImport, PlantPage, PlantQuery, Store } from '../../domain/store.ts'
import type { Scope, Token } from '../../domain/token.ts'
import { GroupedStore } from '../grouped-store.ts'
import type { FileStoreOptions } from '../options.ts'
import { checkHeader, explainOpenFailure, makeFile, openReadable } from './database.ts'
import { type Lock, takeLock } from './lock.ts'
import type { WriterOptions } from './messages.ts'
import { isUpToDate } from './migrations.ts'
import { Pages } from './pages.ts'
import { WriterThread } from './writer-thread.ts'

/**
 * Opens the store in a file, making file and folders when they are missing.
 *
 * @throws OperatorError when the file cannot be opened, is no store, is of a newer version or is in use.
 */
export async function openSqliteStore(file: string, options: FileStoreOptions): Promise<Store> {
  const path = resolve(file)
  let lock: Lock | undefined
  let writer: WriterThread | undefined
  try {
    makeFile(path)
    const realPath = toRealPath(path)
    // Looked at before anything is made beside it: another program's file is left as it is.
    checkHeader(realPath)
    if (statSync(realPath).size > 0) hasNewestTables(realPath, options.limits.storeBusyMsMax)
    lock = lockFor(realPath, options)
    writer = await WriterThread.start({ path: realPath, ...pickWriterLimits(options) })
    const reader = openReadable(realPath, options.limits.storeBusyMsMax)
    const store = new SqliteStore(writer, reader, lock, options)
    // A command holds the lock only until the tables are up to date.
    if (!options.exclusive) lock?.release()
    return store
  } catch (cause) {
    await writer?.close()
    lock?.release()
    throw explainOpenFailure(cause, path)
  }
}

class SqliteStore extends GroupedStore implements Store {
  readonly #writer: WriterThread
  readonly #reader: DatabaseSync
  readonly #lock: Lock | undefined
  readonly #isBesideServer: boolean
  readonly #importPauseMs: number
  readonly #pages: Pages
  readonly #findPlant: StatementSync
  readonly #findToken: StatementSync
  readonly #listTokens: StatementSync
  #closed: Promise<void> | undefined

  constructor(writer: WriterThread, reader: DatabaseSync, lock: Lock | undefined, options: FileStoreOptions) {
    super((jobs) => writer.commit(jobs), options)
    this.#writer = writer
    this.#reader = reader
    this.#lock = options.exclusive ? lock : undefined
    this.#isBesideServer = lock === undefined
    this.#importPauseMs = options.limits.importPauseMs
    this.#pages = new Pages(reader, options.limits)
    this.#findPlant = reader.prepare('SELECT name, tag FROM plants WHERE id = ?')
    this.#findToken = reader.prepare('SELECT * FROM tokens WHERE hash = ?')
    this.#listTokens = reader.prepare('SELECT * FROM tokens ORDER BY created_at_ms, id')
  }

  get isAvailable(): boolean {
    return !this.failed.aborted
  }

  get failed(): AbortSignal {
    return this.#writer.failed
  }

  async getPlant(id: bigint): Promise<Plant | undefined> {
    const row = this.#read(() => this.#findPlant.get(id))
    if (row === undefined) return undefined
    const { name, tag } = row as { name: string; tag: string | null }
    return tag === null ? { name } : { name, tag }
  }

  async listPlants(query: PlantQuery): Promise<PlantPage> {
    return this.#read(() => this.#pages.list(query))
  }

  async beginImport(onConflict: OnConflict): Promise<PlantImport> {
    return {
      isShared: this.#isBesideServer,
      add: (plants) => this.#writer.importPlants(plants, onConflict),
      commit: async () => {
        await this.#writer.commitImport()
        // A server that waits looks only now and then whether it is its turn.
        if (this.#isBesideServer) await sleep(this.#importPauseMs)
      },
      end: () => this.#writer.endImport(),
    }
  }

  async *exportPlants(tag?: string): AsyncGenerator<readonly NewPlant[]> {
    const lots = this.#pages.all(tag)
    try {
      for (let lot = this.#read(() => lots.next()); !lot.done; lot = this.#read(() => lots.next())) yield lot.value
    } finally {
      lots.return()
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
    this.#reader.close()
    await this.#writer.close()
    this.#lock?.release()
  }

  /** A read that fails, as on a damaged file, breaks the store as a failed write does. */
  #read<T>(read: () => T): T {
    if (this.failed.aborted)
      throw new AppError('storeUnavailable', 'the store has failed', { cause: this.failed.reason })
    if (this.#closed !== undefined) throw new AppError('shuttingDown', 'the server is shutting down')
    try {
      return read()
    } catch (cause) {
      this.#writer.fail(cause)
      throw new AppError('storeUnavailable', 'the store has failed', { cause })
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** The one name by which a file is locked. A file with several names of its own would have several locks. */
function toRealPath(path: string): string {
  const realPath = realpathSync(path)
  if (statSync(realPath).nlink === 1) return realPath
  throw new OperatorError(
    `${path} has other names (hard links), by which another server could open it; make a copy of it`,
  )
}

/** A server waits a moment for a command that has the lock; a command needs it only to bring old tables up to date. */
function lockFor(path: string, { exclusive, limits }: FileStoreOptions): Lock | undefined {
  const lock = takeLock(path, exclusive ? limits.storeLockMsMax : 0)
  if (lock !== undefined) return lock
  if (exclusive) throw new OperatorError(`${path} is in use by another plantstore server; stop it or name another file`)
  if (hasNewestTables(path, limits.storeBusyMsMax)) return undefined
  const secondTry = takeLock(path, limits.storeLockMsMax)
  if (secondTry !== undefined || hasNewestTables(path, limits.storeBusyMsMax)) return secondTry
  throw new OperatorError(`${path} is in use by an older plantstore server; stop it or use the older program`)
}

function hasNewestTables(path: string, busyMsMax: number): boolean {
  const database = openReadable(path, busyMsMax)
  try {
    return isUpToDate(database, path)
  } finally {
    database.close()
  }
}

function pickWriterLimits({ limits }: FileStoreOptions): Omit<WriterOptions, 'path'> {
  const { storeBusyMsMax, idempotencyKeyMs, checkpointJobs } = limits
  return { storeBusyMsMax, idempotencyKeyMs, checkpointJobs }
}

function toToken(row: Record<string, unknown>): Token {
  const { id, hash, name, scopes, created_at_ms, expires_at_ms, revoked_at_ms } = row as {
    id: string
    hash: Uint8Array
    name: string
    scopes: string
    created_at_ms: number
    expires_at_ms: number | null
    revoked_at_ms: number | null
  }
  return {
    id,
    hash,
    name,
    scopes: scopes.split(' ') as Scope[],
    createdAtMs: created_at_ms,
    ...(expires_at_ms !== null && { expiresAtMs: expires_at_ms }),
    ...(revoked_at_ms !== null && { revokedAtMs: revoked_at_ms }),
  }
}
