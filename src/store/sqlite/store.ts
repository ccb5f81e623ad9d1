// The Store on an SQLite file. A writer thread commits batches of changes, a second thread reads long lists and lists of
// common tags, and a third handles searches by name and summaries of many tags. The main thread answers all
// other reads.

import { statfsSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChangePage, ChangeQuery } from '../../domain/change.ts'
import { AppError } from '../../domain/errors.ts'
import type { Plant } from '../../domain/plant.ts'
import type {
  ImportOutcome,
  PlantImport,
  PlantPage,
  PlantQuery,
  Store,
  StoreSize,
  Summary,
} from '../../domain/store.ts'
import type { StoreOptions } from '../engine.ts'
import { GroupedStore, shareRead } from '../grouped-store.ts'
import type { Job, Outcome } from '../ledger.ts'
import { statThere } from '../paths.ts'
import { commonStatements } from '../rows.ts'
import { readBackupMs } from './backup.ts'
import { isPassing, openReadable, passingMessage, prepareAll, type Statements } from './file/database.ts'
import { assertKept, type Identity, isHeld } from './file/names.ts'
import { openLister } from './lister.ts'
import { Pages } from './pages.ts'
import type { Thread } from './thread.ts'
import type { ToWriter } from './writer-thread.ts'

export interface OpenedFile {
  /** The real path of the file. */
  readonly path: string
  /** The writer thread. Once it has failed, the state of the disk is unknown, and the process must exit. */
  readonly writer: Thread<ToWriter>
  /** The identity of the files when they were opened. */
  readonly identity: Identity
  readonly reader: DatabaseSync
  readonly resources: AsyncDisposableStack
}

/** Estimated bytes of a plant, before the first list. */
const plantBytesUsual = 256
/** Plants of pages over which the estimate is averaged. */
const plantsAveraged = 100_000
const filePageBytes = 4_096
/** Duration of an import's transaction beside a server, whose changes it delays. */
const importCommitMs = 200
/** Pause between two such transactions in which a server can write. Exceeds SQLite's longest sleep of 100 ms. */
const importPauseMs = 120

const queries = {
  findPlant: 'SELECT plant FROM plants WHERE id = ?',
  findToken: commonStatements.findToken,
  listRecords: commonStatements.listRecords,
} as const

export class SqliteStore extends GroupedStore implements Store {
  readonly isShared = false
  readonly #opened: OpenedFile
  readonly #options: StoreOptions
  readonly #turn: ReturnType<typeof shareTurns>
  readonly #pages: Pages
  readonly #lists: ReturnType<typeof openLister>
  /** Searches by name and summaries, which may take longer. */
  readonly #searches: ReturnType<typeof openLister>
  /** The bytes of a plant in a list, approximately. */
  #plantBytes = plantBytesUsual
  readonly #longSummary = shareRead(() => this.#searches.ask<Summary>({ kind: 'summarize' }))
  readonly #statements: Statements<keyof typeof queries>

  constructor(opened: OpenedFile, options: StoreOptions) {
    const { path, writer, reader } = opened
    const turn = shareTurns(reader, (cause) => writer.end(cause))
    const commit = async (jobs: readonly Job[]): Promise<readonly Outcome[]> => {
      const outcomes = await writer.ask<readonly Outcome[]>({ kind: 'commit', jobs, atMs: options.clock.wallMs() })
      // Acknowledged changes must be visible to the next read.
      turn.end()
      return outcomes
    }
    super(commit, options)
    this.#turn = turn
    this.#opened = opened
    this.#options = options
    this.#pages = new Pages(reader, options.limits)
    const { limits } = options
    this.#lists = openLister({ path, limits }, 'lists', limits.listsMax)
    this.#searches = openLister({ path, limits }, 'searches', limits.searchesMax)
    this.#statements = prepareAll(reader, queries)
  }

  get isAvailable(): boolean {
    return !this.failed.aborted
  }

  get failed(): AbortSignal {
    return this.#opened.writer.failed
  }

  getPlant(id: bigint): Plant | undefined {
    const row = this.#read(() => this.#statements.findPlant.get(id)) as unknown as [string] | undefined
    return row && { id, json: row[0] }
  }

  listPlants(query: PlantQuery, assertWanted = (): void => {}): PlantPage | Promise<PlantPage> {
    const { namePrefix = '', tag, limit } = query
    // The plants of a tag are on different pages of the file.
    const plantBytes = tag === undefined ? this.#plantBytes : Math.max(this.#plantBytes, filePageBytes)
    const isSearch = namePrefix !== ''
    if (!isSearch && limit * plantBytes <= this.#options.limits.quickPageBytesMax) {
      const page = this.#read(() => this.#pages.list(query))
      this.#measured(limit, page)
      return page
    }
    this.#assertUsable()
    const lister = isSearch ? this.#searches : this.#lists
    const page = lister.ask<PlantPage>({ kind: 'list', query }, assertWanted)
    return page.then(
      (made) => {
        this.#measured(limit, made)
        return made
      },
      (cause) => this.#explainRead(cause),
    )
  }

  async getSummary(): Promise<Summary> {
    const quick = this.#read(() => this.#pages.summary(this.#options.limits.quickSummaryTagsMax, 0))
    return quick.isExact ? quick : this.#longSummary().catch((cause) => this.#explainRead(cause))
  }

  async listChanges(query: ChangeQuery): Promise<ChangePage> {
    return this.#read(() => this.#pages.listChanges(query))
  }

  /** Beside a server, transactions are short, with pauses in which the server can write. */
  async beginImport({ isWhole }: { readonly isWhole: boolean }): Promise<PlantImport> {
    const { clock, limits } = this.#options
    const { path, writer } = this.#opened
    const isServedByOther = (): boolean => !this.#options.exclusive && isHeld(path, 'server')
    let uncommitted = 0
    let openedMs = 0
    const isDue = (): boolean =>
      uncommitted >= limits.importCommitPlants ||
      (clock.monotonicMs() - openedMs >= importCommitMs && isServedByOther())
    const commit = async (): Promise<void> => {
      await writer.ask({ kind: 'endImport', end: 'COMMIT' })
      this.#turn.end()
      uncommitted = 0
      // A waiting server polls the lock only occasionally.
      if (isServedByOther()) await sleep(importPauseMs)
    }
    return {
      get isCommitted() {
        return uncommitted === 0
      },
      add: async (plants, onConflict) => {
        if (plants.length === 0) return []
        if (uncommitted === 0) openedMs = clock.monotonicMs()
        const jobs = plants.map(({ id, json }) => ({ kind: 'importPlant', id, json, onConflict }) as const)
        const outcomes = await writer.ask<readonly ImportOutcome[]>({ kind: 'import', jobs, atMs: clock.wallMs() })
        uncommitted += plants.length
        if (!isWhole && isDue()) await commit()
        return outcomes
      },
      commit,
      end: async () => {
        // A failed store has nothing to undo, and its failure is already reported.
        if (!this.failed.aborted) await writer.ask({ kind: 'endImport', end: 'ROLLBACK' })
      },
    }
  }

  /** Uses a separate connection, whose read transaction is the snapshot. Other reads still see new changes. */
  async *exportPlants(): AsyncGenerator<readonly Plant[]> {
    const { limits } = this.#options
    const reader = this.#read(() => openReadable(this.#opened.path, limits.storeBusyMsMax))
    try {
      const batches = new Pages(reader, limits).all(limits.exportBatchPlants)
      for (;;) {
        const batch = this.#read(() => batches.next())
        // If the files were replaced, a restarted server may have overwritten the data read here.
        if (batch.done) return this.#read(() => assertKept(this.#opened.path, this.#opened.identity))
        yield batch.value
      }
    } finally {
      reader.close()
    }
  }

  async measure(): Promise<StoreSize> {
    const { bavail, bsize } = statfsSync(this.#opened.path)
    return {
      ...this.#read(() => this.#pages.size()),
      bytes: statSync(this.#opened.path).size,
      logBytes: statThere(`${this.#opened.path}-wal`)?.size ?? 0,
      diskFreeBytes: bavail * bsize,
      backedUpAtMs: readBackupMs(this.#opened.path),
    }
  }

  protected async release(): Promise<void> {
    this.#turn.end()
    // The last connection to close runs a checkpoint, which must not happen after a failure. Leave this one open, so
    // that the writer's is not the last when the process exits. Wait until the thread has preserved the log.
    if (this.failed.aborted) return this.#opened.writer.close({ kind: 'close' })
    await Promise.all([this.#lists.close(), this.#searches.close()])
    await this.#opened.resources.disposeAsync()
  }

  protected async query(name: keyof typeof queries, ...values: (string | Uint8Array)[]): Promise<readonly unknown[]> {
    return this.#read(() => this.#statements[name].all(...values))
  }

  /**
   * Estimates the next page from earlier pages; the last page of a list may have fewer plants than its limit. After a
   * page that was too long, the main thread makes no page that may be too long until many short ones have followed.
   */
  #measured(limit: number, { json, nextAfter }: PlantPage): void {
    const bytes = json.length / limit
    if (json.length > this.#options.limits.quickPageBytesMax) this.#plantBytes = Math.max(bytes, this.#plantBytes)
    else if (nextAfter !== undefined) this.#plantBytes += ((bytes - this.#plantBytes) * limit) / plantsAveraged
  }

  #read<T>(read: () => T): T {
    this.#assertUsable()
    try {
      this.#turn.begin()
      return read()
    } catch (cause) {
      return this.#explainRead(cause)
    }
  }

  #assertUsable(): void {
    if (this.failed.aborted)
      throw new AppError('storeUnavailable', 'the store has failed', { cause: this.failed.reason })
    this.assertOpen()
  }

  /** A failed read, for example of a damaged file, breaks the store like a failed write. */
  #explainRead(cause: unknown): never {
    if (cause instanceof AppError) throw cause
    if (isPassing(cause)) throw new AppError('overloaded', passingMessage, { cause })
    this.#opened.writer.end(cause)
    throw new AppError('storeUnavailable', 'the store has failed', { cause })
  }
}

/**
 * Shares one read transaction among the reads of one turn of the event loop, because beginning and ending a transaction
 * costs as much as finding a plant. docs/decisions/0026-reads.md explains why callers see no difference.
 *
 * @param onFailure called if a transaction cannot be ended.
 */
function shareTurns(
  reader: DatabaseSync,
  onFailure: (cause: unknown) => void,
): { readonly begin: () => void; readonly end: () => void } {
  let reads = 0
  let isShared = false
  /** Ends the transaction: the next read sees all commits. */
  const end = (): void => {
    reads = 0
    if (!isShared) return
    isShared = false
    try {
      reader.exec('COMMIT')
    } catch (cause) {
      onFailure(cause)
    }
  }
  /** Call before each read. The first read of a turn, often the only one, uses SQLite's implicit transaction. */
  const begin = (): void => {
    reads += 1
    if (reads === 1) setImmediate(end)
    if (reads !== 2 || isShared) return
    reader.exec('BEGIN')
    isShared = true
  }
  return { begin, end }
}
