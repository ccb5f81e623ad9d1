// The Store on one SQLite file: changes go through the writer thread in groups, reads are answered here.

import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../domain/clock.ts'
import { AppError, OperatorError } from '../../domain/errors.ts'
import { digestOf, type NewPlant, type Plant } from '../../domain/plant.ts'
import type { Preconditions } from '../../domain/preconditions.ts'
import type {
  CreateOutcome,
  IdempotencyKey,
  OnConflict,
  PlantImport,
  PlantPage,
  PlantQuery,
  Store,
} from '../../domain/store.ts'
import type { Scope, Token } from '../../domain/token.ts'
import { GroupCommit, type GroupCommitLimits } from '../group-commit.ts'
import { checkHeader, explainOpenFailure, makeFile, openReadable } from './database.ts'
import type { Job, Outcome, WriterOptions } from './jobs.ts'
import { type Lock, takeLock } from './lock.ts'
import { isUpToDate } from './migrations.ts'
import { Pages, type PagesLimits } from './pages.ts'
import { WriterThread } from './writer-thread.ts'

export interface StoreOptions {
  /** A server's store: no other server may open it until it is closed. Without it, a command's, beside a server. */
  readonly exclusive: boolean
  readonly clock: Clock
  readonly limits: GroupCommitLimits &
    PagesLimits & { readonly importPauseMs: number } & Omit<WriterOptions, 'path'> & { readonly storeLockMsMax: number }
}

/**
 * Opens the store in a file, making file and folders when they are missing.
 *
 * @throws OperatorError when the file cannot be opened, is no store, is of a newer version or is in use.
 */
export async function openSqliteStore(file: string, options: StoreOptions): Promise<Store> {
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

class SqliteStore implements Store {
  readonly #writer: WriterThread
  readonly #groups: GroupCommit<Job, Outcome>
  readonly #reader: DatabaseSync
  readonly #lock: Lock | undefined
  readonly #isBesideServer: boolean
  readonly #importPauseMs: number
  readonly #clock: Clock
  readonly #pages: Pages
  readonly #findPlant: StatementSync
  readonly #findToken: StatementSync
  readonly #listTokens: StatementSync
  #closed: Promise<void> | undefined

  constructor(writer: WriterThread, reader: DatabaseSync, lock: Lock | undefined, options: StoreOptions) {
    this.#writer = writer
    this.#groups = new GroupCommit((jobs) => writer.commit(jobs), options.limits)
    this.#reader = reader
    this.#lock = options.exclusive ? lock : undefined
    this.#isBesideServer = lock === undefined
    this.#importPauseMs = options.limits.importPauseMs
    this.#clock = options.clock
    this.#pages = new Pages(reader, options.limits)
    this.#findPlant = reader.prepare('SELECT name, tag FROM plants WHERE id = ?')
    this.#findToken = reader.prepare('SELECT * FROM tokens WHERE hash = ?')
    this.#listTokens = reader.prepare('SELECT * FROM tokens ORDER BY created_at_ms, id')
  }

  get failed(): AbortSignal {
    return this.#writer.failed
  }

  async createPlant({ id, name, tag }: NewPlant, idempotencyKey?: IdempotencyKey): Promise<CreateOutcome> {
    const outcome = await this.#submit({
      kind: 'createPlant',
      id,
      name,
      tag,
      idempotencyKey: idempotencyKey && {
        ...idempotencyKey,
        fingerprint: digestOf({ id, name, tag }),
        atMs: this.#clock.wallMs(),
      },
    })
    if (outcome === 'created' || outcome === 'replayed') return outcome
    if (outcome === 'idTaken') throw new AppError('idTaken', `id: ${id} is taken by another plant`)
    throw new AppError('idempotencyKeyReused', 'Idempotency-Key: was used with another plant less than 24 hours ago')
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

  async replacePlant({ id, name, tag }: NewPlant, preconditions: Preconditions = {}): Promise<void> {
    assertDone(id, await this.#submit({ kind: 'replacePlant', id, name, tag, preconditions }))
  }

  async deletePlant(id: bigint, preconditions: Preconditions = {}): Promise<void> {
    assertDone(id, await this.#submit({ kind: 'deletePlant', id, preconditions }))
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

  async createToken(token: Token): Promise<void> {
    await this.#submit({ kind: 'createToken', token })
  }

  async findToken(hash: Uint8Array): Promise<Token | undefined> {
    const row = this.#read(() => this.#findToken.get(hash))
    return row && toToken(row)
  }

  async listTokens(): Promise<readonly Token[]> {
    return this.#read(() => this.#listTokens.all()).map(toToken)
  }

  async revokeToken(id: string, revokedAtMs: number): Promise<boolean> {
    return (await this.#submit({ kind: 'revokeToken', id, revokedAtMs })) === 'done'
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    await this.#groups.close()
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

  async #submit(job: Job): Promise<Exclude<Outcome, { failed: string }>> {
    const outcome = await this.#groups.submit(job)
    if (typeof outcome === 'object') throw new Error(`the store could not do ${job.kind}: ${outcome.failed}`)
    return outcome
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
function lockFor(path: string, { exclusive, limits }: StoreOptions): Lock | undefined {
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

function pickWriterLimits({ limits }: StoreOptions): Omit<WriterOptions, 'path'> {
  const { storeBusyMsMax, idempotencyKeyMs, checkpointJobs } = limits
  return { storeBusyMsMax, idempotencyKeyMs, checkpointJobs }
}

function assertDone(id: bigint, outcome: Outcome): void {
  if (outcome === 'unknown') throw new AppError('unknownPlant', `id: there is no plant ${id}`)
  if (outcome === 'ifMatch') {
    throw new AppError('preconditionFailed', `If-Match: the plant ${id} has changed; read it again`)
  }
  if (outcome === 'ifNoneMatch') {
    throw new AppError('preconditionFailed', `If-None-Match: the plant ${id} is as it must not be`)
  }
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
