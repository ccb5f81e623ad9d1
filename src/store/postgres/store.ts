// The Store on a PostgreSQL database, which any number of servers may share. One connection commits batches of changes,
// another retries changes that met a locked row, and a few more serve reads.

import type { ChangePage, ChangeQuery } from '../../domain/change.ts'
import { AppError, type OperatorError } from '../../domain/errors.ts'
import type { Plant } from '../../domain/plant.ts'
import type { PlantImport, PlantPage, PlantQuery, Store, StoreSize } from '../../domain/store.ts'
import type { StoreOptions } from '../engine.ts'
import { GroupedStore, shareRead } from '../grouped-store.ts'
import { commonStatements } from '../rows.ts'
import { batchImport, exportBatches, wholeImport } from './bulk.ts'
import { Batches, Committer } from './committer.ts'
import { type DatabaseOptions, locate } from './connections/address.ts'
import { answerWithin, type Connection, named, openForBulk, type Row, warningsOf } from './connections/connection.ts'
import { explainConnectFailure, failureOf, refusalOf } from './connections/failures.ts'
import { openSession, type Session, Sessions } from './connections/sessions.ts'
import { findUnusable, migrate, nowMs } from './connections/tables.ts'
import { listChanges, listPage, measure, numberChanges, summarize } from './pages.ts'

/** Expired keys that are deleted at once. */
const keysSweptMax = 10_000

const statements = named({
  ...commonStatements,
  findPlant: 'SELECT plant::text FROM plants WHERE id = $1',
  /** Deletes expired keys, except those that are being renewed, and rows of the log that only show old outcomes. */
  sweepOld: `WITH keys AS (DELETE FROM idempotency_keys WHERE (caller_id, key) IN (SELECT caller_id, key
      FROM idempotency_keys WHERE created_at_ms <= $1 LIMIT ${keysSweptMax} FOR UPDATE SKIP LOCKED) RETURNING 1),
    unchanged AS (DELETE FROM changes WHERE changes <= 0 AND at_ms <= ${nowMs} - $2)
    SELECT ${nowMs}, count(*) FROM keys`,
})

export async function openPostgresStore(url: string, options: StoreOptions): Promise<Store> {
  const database = locate(url, options)
  try {
    await prepare(database)
    return new PostgresStore(new Sessions(await openSession(database), database), database)
  } catch (cause) {
    throw explainConnectFailure(cause, database.place)
  }
}

/** Makes the tables. A server that cannot use them must not start. Warns of unsafe settings. */
async function prepare(options: DatabaseOptions): Promise<void> {
  await using connection = await openForBulk(options)
  await migrate(connection, options)
  if (!options.exclusive) return
  const unusable = await findUnusable(connection)
  if (unusable !== undefined) throw unusable
  for (const message of await warningsOf(connection)) options.observe({ kind: 'storeWarning', message })
}

class PostgresStore extends GroupedStore implements Store {
  readonly isShared = true
  readonly #sessions: Sessions
  readonly #committer: Committer
  readonly #batches: Batches
  readonly #common = new Set<string>()
  readonly #options: DatabaseOptions
  readonly #failure = new AbortController()
  readonly getSummary = shareRead(() => this.#read((reader) => summarize(reader, this.#options.limits)))
  readonly #numberChanges = shareRead(() => this.#read((_, { log }) => numberChanges(log)))
  /** The most bytes for each plant that a page is expected to have, after recent pages. */
  #plantBytes: number
  #largePages: Promise<unknown> = Promise.resolve()

  constructor(sessions: Sessions, options: DatabaseOptions) {
    super((jobs) => this.#batches.commit(jobs), options)
    const committing = { ...options, onOutdated: (cause: OperatorError) => this.#failure.abort(cause) }
    this.#committer = new Committer(sessions, { ...committing, connectionOf: ({ changes }) => changes })
    const asideCommitter = new Committer(sessions, {
      ...committing,
      connectionOf: ({ lockedChanges }) => lockedChanges,
    })
    this.#batches = new Batches(this.#committer, asideCommitter, options)
    this.#sessions = sessions
    this.#options = options
    this.#plantBytes = options.limits.bodyBytesMax
  }

  get isAvailable(): boolean {
    return this.#sessions.isAvailable && !this.failed.aborted
  }

  get failed(): AbortSignal {
    return this.#failure.signal
  }

  async getPlant(id: bigint): Promise<Plant | undefined> {
    const [row] = await this.query('findPlant', id)
    return row && { id, json: row[0] as string }
  }

  /** Reads one large page after another, so that small reads do not wait behind them. */
  listPlants(query: PlantQuery, assertWanted = (): void => {}): Promise<PlantPage> {
    const { pageScanPlantsMax, quickPageBytesMax } = this.#options.limits
    const list = async (): Promise<PlantPage> => {
      const page = await this.#read((reader) => listPage(reader, query, pageScanPlantsMax, this.#common))
      this.#plantBytes = Math.max(page.json.length / query.limit, this.#plantBytes / 2)
      return page
    }
    if (query.limit * this.#plantBytes < quickPageBytesMax) return list()
    const page = this.#largePages.then(assertWanted).then(list)
    this.#largePages = page.catch(() => {})
    return page
  }

  async listChanges(query: ChangeQuery): Promise<ChangePage> {
    await this.#numberChanges()
    return this.#read((reader) => listChanges(reader, query, this.#options.limits))
  }

  /** A clock that is ahead must not sweep what a look-up needs (lost-commits.ts). */
  override async sweepChanges(untilMs: number, needed?: readonly string[]): Promise<boolean> {
    const { clock, limits } = this.#options
    await this.#numberChanges()
    const old = [clock.wallMs() - limits.idempotencyKeyMs, limits.databaseCommitKnownMs]
    const [row] = await this.#read((_, { log }) => log.query(statements.sweepOld, old))
    const [nowMs, keys] = row as unknown as [bigint, bigint]
    const isMore = await super.sweepChanges(Math.min(untilMs, Number(nowMs) - limits.changesKeptMsMin), needed)
    return isMore || keys === BigInt(keysSweptMax)
  }

  measure(): Promise<StoreSize> {
    return this.#read((reader) => measure(reader, this.#options.limits))
  }

  async beginImport({ isWhole }: { readonly isWhole: boolean }): Promise<PlantImport> {
    return isWhole ? wholeImport(this.#options) : batchImport(this.#committer, this.#options)
  }

  async *exportPlants(): AsyncGenerator<readonly Plant[]> {
    try {
      yield* exportBatches(this.#options)
    } catch (cause) {
      throw new AppError('storeAway', 'the database interrupted the export', { cause })
    }
  }

  protected async release(): Promise<void> {
    await this.#batches.close()
    await this.#sessions.close()
  }

  protected query(name: keyof typeof statements, ...values: unknown[]): Promise<readonly Row[]> {
    return this.#read((reader) => reader.query(statements[name], values))
  }

  /** Retries a read that lost its connection on the next one. */
  async #read<T>(read: (reader: Connection, session: Session) => Promise<T>): Promise<T> {
    const { limits } = this.#options
    for (let tries = 1; ; tries += 1) {
      this.assertOpen()
      const session = await this.#sessions.current()
      const reader = session.readers.reduce((least, each) => (each.pending < least.pending ? each : least))
      if (reader.pending >= limits.databaseReadsMax) throw refusalOf('busy', undefined)
      try {
        const answer = await answerWithin(read(reader, session), limits.databaseReadMsMax)
        if (answer !== undefined) return answer.value
        // Keep the connection: other reads wait for its answers.
        throw refusalOf('busy', new Error(`no answer for ${limits.databaseReadMsMax} ms`))
      } catch (error) {
        if (error instanceof AppError) throw error
        const failure = failureOf(error)
        const isLast = tries >= limits.databaseAttemptsMax
        // A new session may help where retries do not.
        if (failure === 'lost' || (failure === 'retry' && isLast)) reader.lose(error)
        else if (failure === 'own') throw error
        else if (failure !== 'retry') throw refusalOf(failure, error)
        if (isLast) throw refusalOf('busy', error)
      }
    }
  }
}
