// The Store on an SQLite file. A writer thread commits batches of changes, a second thread makes long lists, and a
// third handles searches by name and summaries of many tags. The main thread answers all other reads.

import { statfsSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { ChangePage, ChangeQuery } from '../../domain/change.ts'
import { AppError } from '../../domain/errors.ts'
import type { Plant } from '../../domain/plant.ts'
import type { PlantImport, PlantPage, PlantQuery, Store, StoreSize, Summary } from '../../domain/store.ts'
import type { Token } from '../../domain/token.ts'
import type { StoredWebhook } from '../../domain/webhook.ts'
import type { StoreOptions } from '../engine.ts'
import { GroupedStore } from '../grouped-store.ts'
import type { Job, Outcome } from '../jobs.ts'
import { statThere } from '../paths.ts'
import { commonStatements, toToken, toWebhook } from '../rows.ts'
import { SharedRead } from '../shared-read.ts'
import { readBackupMs } from './backup/backup-series.ts'
import { isPassing, openReadable, passingMessage, prepareAll, type Statements } from './file/database.ts'
import { isServed, type Lock } from './file/lock.ts'
import { assertKept } from './file/names.ts'
import { beginImport } from './import.ts'
import { Lister } from './lister.ts'
import { Pages } from './pages.ts'
import { ReadTurn } from './read-turn.ts'
import type { Writer } from './writer.ts'

export interface StoreDependencies {
  /** The real path of the file. */
  readonly path: string
  readonly writer: Writer
  readonly reader: DatabaseSync
  /** Undefined for a command. */
  readonly lock: Lock | undefined
  /** Aborted when the store closes. */
  readonly checking: AbortController
}

const queries = {
  findPlant: 'SELECT plant FROM plants WHERE id = ?',
  findToken: commonStatements.findToken,
  listTokens: commonStatements.listTokens,
  listWebhooks: 'SELECT id, version, content FROM webhooks ORDER BY rowid',
} as const

export class SqliteStore extends GroupedStore implements Store {
  readonly isShared = false
  readonly #path: string
  readonly #writer: Writer
  readonly #reader: DatabaseSync
  readonly #lock: Lock | undefined
  readonly #checking: AbortController
  readonly #options: StoreOptions
  readonly #turn: ReadTurn
  readonly #pages: Pages
  readonly #lists: Lister
  /** Searches by name and summaries, which may take longer. */
  readonly #searches: Lister
  readonly #longSummary = new SharedRead(() => this.#searches.summarize())
  readonly #statements: Statements<keyof typeof queries>
  #closed: Promise<void> | undefined

  constructor({ path, writer, reader, lock, checking }: StoreDependencies, options: StoreOptions) {
    const turn = new ReadTurn(reader, (cause) => writer.fail(cause))
    const commit = async (jobs: readonly Job[]): Promise<readonly Outcome[]> => {
      const outcomes = await writer.commit(jobs, options.clock.wallMs())
      // Acknowledged changes must be visible to the next read.
      turn.end()
      return outcomes
    }
    super(commit, options)
    this.#turn = turn
    this.#path = path
    this.#writer = writer
    this.#reader = reader
    this.#lock = lock
    this.#checking = checking
    this.#options = options
    this.#pages = new Pages(reader, options.limits)
    const { limits } = options
    this.#lists = new Lister({ path, limits }, 'lists', limits.listsMax)
    this.#searches = new Lister({ path, limits }, 'searches', limits.searchesMax)
    this.#statements = prepareAll(reader, queries)
  }

  get isAvailable(): boolean {
    return !this.failed.aborted
  }

  get failed(): AbortSignal {
    return this.#writer.failed
  }

  getPlant(id: bigint): Plant | undefined {
    const row = this.#read(() => this.#statements.findPlant.get(id)) as unknown as [string] | undefined
    return row && { id, json: row[0] }
  }

  listPlants(query: PlantQuery, assertWanted = (): void => {}): PlantPage | Promise<PlantPage> {
    const isSearch = (query.namePrefix ?? '') !== ''
    if (!isSearch && query.limit <= this.#options.limits.quickPagePlantsMax) {
      return this.#read(() => this.#pages.list(query))
    }
    this.#assertOpen()
    const page = (isSearch ? this.#searches : this.#lists).list(query, assertWanted)
    return page.catch((cause) => this.#explainRead(cause))
  }

  async getSummary(): Promise<Summary> {
    const quick = this.#read(() => this.#pages.quickSummary(this.#options.limits.quickSummaryTagsMax))
    return quick ?? this.#longSummary.read().catch((cause) => this.#explainRead(cause))
  }

  async listChanges(query: ChangeQuery): Promise<ChangePage> {
    return this.#read(() => this.#pages.listChanges(query))
  }

  async beginImport({ isWhole }: { readonly isWhole: boolean }): Promise<PlantImport> {
    const isServedByOther = (): boolean => this.#lock === undefined && isServed(this.#path)
    return beginImport(this.#writer, { ...this.#options, isWhole, isServed: isServedByOther })
  }

  /** Uses a separate connection, whose read transaction is the snapshot. Other reads still see new changes. */
  async *exportPlants(tag?: string): AsyncGenerator<readonly Plant[]> {
    const { limits } = this.#options
    const reader = this.#read(() => openReadable(this.#path, limits.storeBusyMsMax))
    try {
      const batches = new Pages(reader, limits).all(limits.exportBatchPlants, tag)
      for (;;) {
        const batch = this.#read(() => batches.next())
        // If the files were replaced, a restarted server may have overwritten the data read here.
        if (batch.done) return this.#read(() => assertKept(this.#path, this.#writer.identity))
        yield batch.value
      }
    } finally {
      reader.close()
    }
  }

  async findToken(hash: Uint8Array): Promise<Token | undefined> {
    const row = this.#read(() => this.#statements.findToken.get(hash))
    return row && toToken(row)
  }

  async listTokens(): Promise<readonly Token[]> {
    return this.#read(() => this.#statements.listTokens.all()).map(toToken)
  }

  async listWebhooks(): Promise<readonly StoredWebhook[]> {
    return this.#read(() => this.#statements.listWebhooks.all()).map(toWebhook)
  }

  async measure(): Promise<StoreSize> {
    const plants = this.#read(() => this.#pages.count())
    const changesBytes = this.#read(() => this.#pages.changesBytes())
    const { bavail, bsize } = statfsSync(this.#path)
    return {
      plants,
      bytes: statSync(this.#path).size,
      changesBytes,
      logBytes: statThere(`${this.#path}-wal`)?.size ?? 0,
      diskFreeBytes: bavail * bsize,
      backedUpAtMs: readBackupMs(this.#path),
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    await this.closeGroups()
    this.#checking.abort()
    this.#turn.end()
    // The last connection to close runs a checkpoint, which must not happen after a failure. Leave this one open, so
    // that the writer's is not the last when the process exits.
    if (this.failed.aborted) return this.#writer.close()
    this.#reader.close()
    await Promise.all([this.#lists.close(), this.#searches.close()])
    await this.#writer.close()
    this.#lock?.release()
  }

  #read<T>(read: () => T): T {
    this.#assertOpen()
    try {
      this.#turn.read()
      return read()
    } catch (cause) {
      return this.#explainRead(cause)
    }
  }

  #assertOpen(): void {
    if (this.failed.aborted)
      throw new AppError('storeUnavailable', 'the store has failed', { cause: this.failed.reason })
    if (this.#closed !== undefined) throw new AppError('shuttingDown', 'the server is shutting down')
  }

  /** A failed read, for example of a damaged file, breaks the store like a failed write. */
  #explainRead(cause: unknown): never {
    if (cause instanceof AppError) throw cause
    if (isPassing(cause)) throw new AppError('overloaded', passingMessage, { cause })
    this.#writer.fail(cause)
    throw new AppError('storeUnavailable', 'the store has failed', { cause })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
