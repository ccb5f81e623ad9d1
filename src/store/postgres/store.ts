// The Store on a PostgreSQL database, which any number of servers may share: changes go through one connection in groups, reads
// through a few others.

import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../domain/errors.ts'
import type { NewPlant, Plant } from '../../domain/plant.ts'
import type { OnConflict, PlantImport, PlantPage, PlantQuery, Store } from '../../domain/store.ts'
import type { Scope, Token } from '../../domain/token.ts'
import { GroupedStore } from '../grouped-store.ts'
import type { StoreOptions } from '../options.ts'
import { describeUrl, parseAddress } from './address.ts'
import { beginWholeImport, exportLots, openForBulk } from './bulk.ts'
import type { Connection, Row, Statement } from './connection.ts'
import { answerWithin } from './deadline.ts'
import { explainConnectFailure, failureOf, refusalOf } from './failures.ts'
import { migrate } from './migrations.ts'
import { listPage } from './pages.ts'
import { type DatabaseOptions, Session, Sessions } from './sessions.ts'
import { warningsOf } from './warnings.ts'
import { Writer } from './writer.ts'

const findPlant: Statement = { name: 'findPlant', text: 'SELECT name, tag FROM plants WHERE id = $1' }
const tokenColumns = 'id, hash, name, scopes, created_at_ms, expires_at_ms, revoked_at_ms'
const findToken: Statement = { name: 'findToken', text: `SELECT ${tokenColumns} FROM tokens WHERE hash = $1` }
const listTokens: Statement = {
  name: 'listTokens',
  text: `SELECT ${tokenColumns} FROM tokens ORDER BY created_at_ms, id`,
}
const sweepKeys: Statement = {
  name: 'sweepKeys',
  text: `DELETE FROM idempotency_keys WHERE (token_id, key) IN (
    SELECT token_id, key FROM idempotency_keys WHERE created_at_ms <= $1 ORDER BY created_at_ms LIMIT $2)`,
}

/**
 * Opens the store in a database, making its tables when they are missing.
 *
 * @throws OperatorError when the database cannot be reached or is not one for a store.
 */
export async function openPostgresStore(url: string, options: StoreOptions): Promise<Store> {
  const database = locate(url, options)
  try {
    const maintenance = await openForBulk(database)
    try {
      await migrate(maintenance, options.mayMake)
      if (options.exclusive) {
        for (const message of await warningsOf(maintenance)) options.observe({ kind: 'storeWarning', message })
      }
    } finally {
      await maintenance.close()
    }
    const store = new PostgresStore(new Sessions(await Session.open(database), database), database)
    // A server that could not change anything is of no use.
    if (options.exclusive) await store.register()
    return store
  } catch (cause) {
    throw explainConnectFailure(cause, database.place)
  }
}

/** @throws OperatorError when the URL is malformed. */
export function locate(url: string, options: StoreOptions): DatabaseOptions {
  return { ...options, address: parseAddress(url, options.environment), place: describeUrl(url) }
}

class PostgresStore extends GroupedStore implements Store {
  readonly #sessions: Sessions
  readonly #writer: Writer
  readonly #options: DatabaseOptions
  readonly #failure: AbortController
  readonly #closing = new AbortController()
  readonly #sweeping: Promise<void>
  #closed: Promise<void> | undefined

  constructor(sessions: Sessions, options: DatabaseOptions) {
    const failure = new AbortController()
    const writer = new Writer(sessions, { ...options, onOutdated: (cause) => failure.abort(cause) })
    super((jobs) => writer.commit(jobs), options)
    this.#sessions = sessions
    this.#writer = writer
    this.#options = options
    this.#failure = failure
    this.#sweeping = options.exclusive ? this.#sweep() : Promise.resolve()
  }

  /** Makes sure that changes can be made. Throws what stands in the way. */
  async register(): Promise<void> {
    try {
      await this.#writer.register()
    } catch (error) {
      await this.close()
      throw error instanceof AppError && error.cause !== undefined ? error.cause : error
    }
  }

  get isAvailable(): boolean {
    return this.#sessions.isAvailable && !this.failed.aborted
  }

  get failed(): AbortSignal {
    return this.#failure.signal
  }

  async getPlant(id: bigint): Promise<Plant | undefined> {
    const [row] = await this.#query(findPlant, [id])
    if (row === undefined) return undefined
    const [name, tag] = row as [string, string | null]
    return tag === null ? { name } : { name, tag }
  }

  listPlants(query: PlantQuery): Promise<PlantPage> {
    return this.#read((reader) => listPage(reader, query, this.#options.limits.pageScanPlantsMax))
  }

  async beginImport(onConflict: OnConflict, { isWhole }: { readonly isWhole: boolean }): Promise<PlantImport> {
    if (isWhole) return beginWholeImport(await this.#openForBulk(), onConflict)
    return {
      isShared: false,
      add: (plants) => this.#writer.import(plants, onConflict),
      commit: async () => {},
      end: async () => {},
    }
  }

  async *exportPlants(tag?: string): AsyncGenerator<readonly NewPlant[]> {
    try {
      yield* exportLots(await this.#openForBulk(), tag)
    } catch (cause) {
      throw new AppError('storeUnavailable', 'the export was broken off by the database', { cause })
    }
  }

  async findToken(hash: Uint8Array): Promise<Token | undefined> {
    const [row] = await this.#query(findToken, [hash])
    return row && toToken(row)
  }

  async listTokens(): Promise<readonly Token[]> {
    return (await this.#query(listTokens)).map(toToken)
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    await this.closeGroups()
    this.#closing.abort()
    await this.#sweeping
    await this.#writer.close()
    await this.#sessions.close()
  }

  #openForBulk(): Promise<Connection> {
    return openForBulk(this.#options, this.#options.limits.databaseBulkMsMax)
  }

  #query(statement: Statement, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.#read((reader) => reader.query(statement, values))
  }

  /** A read that lost its connection is done again with the next one. */
  async #read<T>(read: (reader: Connection) => Promise<T>): Promise<T> {
    const { limits } = this.#options
    for (let tries = 1; ; tries += 1) {
      if (this.#closed !== undefined) throw new AppError('shuttingDown', 'the server is shutting down')
      const session = await this.#sessions.current()
      const { reader } = session
      if (reader.pending >= limits.databaseReadsMax) throw refusalOf('busy', undefined)
      try {
        const answer = await answerWithin(read(reader), limits.databaseReadMsMax)
        if (answer !== undefined) return answer.value
        // Its connection goes on, as others wait for its answers.
        throw refusalOf('busy', new Error(`no answer for ${limits.databaseReadMsMax} ms`))
      } catch (error) {
        if (error instanceof AppError) throw error
        const failure = failureOf(error)
        if (failure === 'lost') session.lose(error)
        else if (failure === 'own') throw new AppError('storeUnavailable', 'the database failed', { cause: error })
        else if (failure !== 'retry') throw refusalOf(failure, error)
        if (tries >= limits.databaseAttemptsMax) throw refusalOf('busy', error)
      }
    }
  }

  /** On a connection of its own, where it keeps nobody waiting, for standbys or for other servers' sweeps. */
  async #sweepOnce(outlivedAtMs: number): Promise<void> {
    const { outlivedKeysSwept } = this.#options.limits
    const connection = await openForBulk(this.#options)
    const stop = (): void => connection.lose(new Error('the store is closed'))
    this.#closing.signal.addEventListener('abort', stop)
    try {
      await connection.command('SET synchronous_commit = local')
      for (let swept = outlivedKeysSwept; swept >= outlivedKeysSwept; ) {
        swept = (await connection.run(sweepKeys, [outlivedAtMs, outlivedKeysSwept])).rowCount ?? 0
      }
    } finally {
      this.#closing.signal.removeEventListener('abort', stop)
      await connection.close()
    }
  }

  /** Takes outlived keys away, little by little. */
  async #sweep(): Promise<void> {
    const { limits, clock } = this.#options
    const { signal } = this.#closing
    while (!signal.aborted) {
      await sleep(limits.outlivedKeysSweepMs * (0.5 + Math.random()), undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      // What cannot be done now is done the next time: an outlived key does no harm.
      await this.#sweepOnce(clock.wallMs() - limits.idempotencyKeyMs).catch(() => {})
    }
  }
}

function toToken(row: Row): Token {
  const [id, hash, name, scopes, createdAtMs, expiresAtMs, revokedAtMs] = row as [
    string,
    Buffer,
    string,
    string,
    bigint,
    bigint | null,
    bigint | null,
  ]
  return {
    id,
    hash,
    name,
    scopes: scopes.split(' ') as Scope[],
    createdAtMs: Number(createdAtMs),
    ...(expiresAtMs !== null && { expiresAtMs: Number(expiresAtMs) }),
    ...(revokedAtMs !== null && { revokedAtMs: Number(revokedAtMs) }),
  }
}
