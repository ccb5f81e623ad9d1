// An import into an SQLite file, in one transaction or several. While a server uses the file, transactions are short,
// with pauses in which the server can write.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../domain/clock.ts'
import type { ImportOutcome, PlantImport } from '../../domain/store.ts'
import type { StoreLimits } from '../engine.ts'
import type { Writer } from './writer.ts'

/** Duration of a transaction beside a server, and so the delay of the server's changes. */
const commitMs = 200
/** Pause between two transactions in which a server can write. Exceeds SQLite's longest sleep of 100 ms. */
const pauseMs = 120

export interface ImportOptions {
  /** Whether a server is also using the file. */
  readonly isServed: () => boolean
  readonly clock: Clock
  readonly limits: StoreLimits
  readonly isWhole: boolean
}

export function beginImport(writer: Writer, { isServed, clock, limits, isWhole }: ImportOptions): PlantImport {
  let uncommitted = 0
  let openedMs = 0
  const isDue = (): boolean =>
    uncommitted >= limits.importCommitPlants || (clock.monotonicMs() - openedMs >= commitMs && isServed())
  const commit = async (): Promise<void> => {
    await writer.ask({ kind: 'commitImport' })
    uncommitted = 0
    // A waiting server polls the lock only occasionally.
    if (isServed()) await sleep(pauseMs)
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
    end: () => writer.ask({ kind: 'endImport' }),
  }
}
