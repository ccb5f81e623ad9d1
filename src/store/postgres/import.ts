// Imports into PostgreSQL: either each batch commits by itself, or the whole import is one transaction on a separate
// connection.

import { AppError } from '../../domain/errors.ts'
import type { Plant } from '../../domain/plant.ts'
import type { ImportOutcome, OnConflict, PlantImport } from '../../domain/store.ts'
import type { JobOf } from '../jobs.ts'
import { decide, lookupsOf } from '../ledger.ts'
import type { Committer } from './committer.ts'
import type { DatabaseOptions } from './connections/address.ts'
import { openForBulk } from './connections/connection.ts'
import { failureOf, Locked, refusalOf } from './connections/failures.ts'
import { lookUp, registerConnection, unregisterConnection } from './registrations.ts'
import { advance, find, sendEffects } from './transaction.ts'

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
export async function wholeImport(options: DatabaseOptions): Promise<PlantImport> {
  const { clock, limits } = options
  const connection = await openForBulk(options, limits.databaseBulkMsMax)
  const registration = await registerConnection(connection, clock).catch(async (error) => {
    await connection.close()
    throw error
  })
  let isBegun = false
  const begin = async (): Promise<void> => {
    await connection.sendTogether(() => [connection.begin(), advance(registration)])
    isBegun = true
  }
  return {
    get isCommitted() {
      return !isBegun
    },
    add: async (plants, onConflict) => {
      if (plants.length === 0) return []
      const jobs = toJobs(plants, onConflict)
      try {
        if (!isBegun) await begin()
        const { outcomes, effects } = decide(jobs, await find(connection, lookupsOf(jobs)), limits.idempotencyKeyMs)
        const writing = { ...limits, atMs: clock.wallMs() }
        await connection.sendTogether(() => sendEffects(connection, effects, writing))
        return outcomes as readonly ImportOutcome[]
      } catch (cause) {
        throw nothingKept(cause)
      }
    },
    commit: async () => {
      if (!isBegun) return
      try {
        await connection.commit()
      } catch (cause) {
        if (failureOf(cause) !== 'lost' || !(await wasKept())) throw nothingKept(cause)
      }
      registration.lastCommit += 1n
      isBegun = false
      connection.assertConfirmed()
    },
    end: async () => {
      // Closing the connection rolls back an open transaction and leaves its row to the sweep.
      if (!isBegun && !connection.lost.aborted) await unregisterConnection(registration)
      await connection.close()
    },
  }

  async function wasKept(): Promise<boolean> {
    connection.lose(new Error('the answer to COMMIT was lost'))
    return (await lookUp(registration, options, clock.monotonicMs() + limits.databaseBulkMsMax)) !== undefined
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
