// Imports into PostgreSQL: either each batch commits by itself, or the whole import is one transaction on a separate
// connection.

import { AppError } from '../../domain/errors.ts'
import type { Plant } from '../../domain/plant.ts'
import type { ImportOutcome, OnConflict, PlantImport } from '../../domain/store.ts'
import type { JobOf } from '../jobs.ts'
import { decide, lookupsOf } from '../ledger.ts'
import type { Committer } from './committer.ts'
import type { DatabaseOptions } from './connections/address.ts'
import { type Connection, openForBulk } from './connections/connection.ts'
import { failureOf, Locked, refusalOf } from './connections/failures.ts'
import { lookUp, type Registration, registerConnection, unregisterConnection } from './registrations.ts'
import { type Attempt, advance, beginAttempt, find, sendEffects } from './transaction.ts'

/** An import in which each batch is a transaction. */
export function batchImport(committer: Committer, { clock, limits }: DatabaseOptions): PlantImport {
  return {
    isCommitted: true,
    add: async (plants, onConflict) => {
      if (plants.length === 0) return []
      const deadlineMs = clock.monotonicMs() + limits.databaseCommitMsMax
      for (;;) {
        try {
          return (await committer.commit(toJobs(plants, onConflict), deadlineMs)) as readonly ImportOutcome[]
        } catch (error) {
          if (!(error instanceof Locked)) throw error
          if (clock.monotonicMs() >= deadlineMs) throw refusalOf('locked', error)
        }
      }
    },
    commit: async () => {},
    end: async () => {},
  }
}

/** An import in one transaction. */
export class WholeImport implements PlantImport {
  readonly #options: DatabaseOptions
  readonly #registration: Registration
  #attempt: Attempt | undefined

  static async begin(options: DatabaseOptions): Promise<WholeImport> {
    const connection = await openForBulk(options, options.limits.databaseBulkMsMax)
    try {
      return new WholeImport(options, await registerConnection(connection, options.clock))
    } catch (error) {
      await connection.close()
      throw error
    }
  }

  private constructor(options: DatabaseOptions, registration: Registration) {
    this.#options = options
    this.#registration = registration
  }

  get isCommitted(): boolean {
    return this.#attempt === undefined
  }

  async add(plants: readonly Plant[], onConflict: OnConflict): Promise<readonly ImportOutcome[]> {
    if (plants.length === 0) return []
    const jobs = toJobs(plants, onConflict)
    const { clock, limits } = this.#options
    try {
      const { mark } = await this.#begin()
      const { outcomes, effects } = decide(jobs, await find(this.#connection, lookupsOf(jobs)), limits.idempotencyKeyMs)
      const options = { ...limits, atMs: clock.wallMs() }
      await this.#connection.sendTogether(() => sendEffects(this.#connection, effects, mark, options))
      return outcomes as readonly ImportOutcome[]
    } catch (cause) {
      throw nothingKept(cause)
    }
  }

  async commit(): Promise<void> {
    const attempt = this.#attempt
    if (attempt === undefined) return
    try {
      await this.#connection.commit()
    } catch (cause) {
      if (failureOf(cause) !== 'lost') throw nothingKept(cause)
      if (!(await this.#wasKept(attempt))) throw nothingKept(cause)
    }
    this.#attempt = undefined
    this.#registration.lastCommit = attempt.number
    this.#connection.assertConfirmed()
  }

  async end(): Promise<void> {
    // Closing the connection rolls back an open transaction and leaves its row to the sweep.
    if (this.isCommitted && !this.#connection.lost.aborted) await unregisterConnection(this.#registration)
    await this.#connection.close()
  }

  get #connection(): Connection {
    return this.#registration.connection
  }

  async #begin(): Promise<Attempt> {
    if (this.#attempt !== undefined) return this.#attempt
    const attempt = beginAttempt(this.#registration)
    await this.#connection.sendTogether(() => [this.#connection.begin(), advance(attempt)])
    this.#attempt = attempt
    return attempt
  }

  async #wasKept({ number }: Attempt): Promise<boolean> {
    const { clock, limits } = this.#options
    this.#connection.lose(new Error('the answer to COMMIT was lost'))
    const takenIds = await lookUp(this.#registration, number, {
      open: () => openForBulk(this.#options),
      clock,
      limits,
      deadlineMs: clock.monotonicMs() + limits.databaseBulkMsMax,
    })
    return takenIds !== undefined
  }
}

function toJobs(plants: readonly Plant[], onConflict: OnConflict): readonly JobOf<'importPlant'>[] {
  return plants.map(({ id, json }) => ({ kind: 'importPlant', id, json, onConflict }))
}

function nothingKept(cause: unknown): AppError {
  return new AppError('overloaded', 'the import met another change or lost the database; nothing was kept, try again', {
    cause,
  })
}
