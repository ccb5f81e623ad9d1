// An import into an SQLite file, in one transaction or several. While a server uses the file, transactions are short,
// with pauses in which the server can write.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../domain/clock.ts'
import type { Plant } from '../../domain/plant.ts'
import type { ImportOutcome, OnConflict, PlantImport } from '../../domain/store.ts'
import type { StoreLimits } from '../engine.ts'
import type { WriterThread } from './writer.ts'

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

export class SqliteImport implements PlantImport {
  readonly #writer: WriterThread
  readonly #options: ImportOptions
  #uncommitted = 0
  #openedMs = 0

  constructor(writer: WriterThread, options: ImportOptions) {
    this.#writer = writer
    this.#options = options
  }

  get isCommitted(): boolean {
    return this.#uncommitted === 0
  }

  async add(plants: readonly Plant[], onConflict: OnConflict): Promise<readonly ImportOutcome[]> {
    const { clock, isWhole } = this.#options
    if (plants.length === 0) return []
    if (this.#uncommitted === 0) this.#openedMs = clock.monotonicMs()
    const jobs = plants.map(({ id, json }) => ({ kind: 'importPlant', id, json, onConflict }) as const)
    const outcomes = await this.#writer.import(jobs, clock.wallMs())
    this.#uncommitted += plants.length
    if (!isWhole && this.#isDue()) await this.commit()
    return outcomes
  }

  async commit(): Promise<void> {
    await this.#writer.commitImport()
    this.#uncommitted = 0
    // A waiting server polls the lock only occasionally.
    if (this.#options.isServed()) await sleep(pauseMs)
  }

  end(): Promise<void> {
    return this.#writer.endImport()
  }

  #isDue(): boolean {
    const { clock, limits, isServed } = this.#options
    if (this.#uncommitted >= limits.importCommitPlants) return true
    return clock.monotonicMs() - this.#openedMs >= commitMs && isServed()
  }
}
