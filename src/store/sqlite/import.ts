// An import into an SQLite file: one transaction after the other, or one for all. Whether a server has the file, too,
// is asked each time: then transactions are short, and the server gets its turn between two of them.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../domain/clock.ts'
import type { NewPlant } from '../../domain/plant.ts'
import type { ImportOutcome, OnConflict, PlantImport } from '../../domain/store.ts'
import type { StoreLimits } from '../engine.ts'
import type { WriterThread } from './writer.ts'

export interface ImportOptions {
  /** Whether a server has the file now, too. */
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

  async add(plants: readonly NewPlant[], onConflict: OnConflict): Promise<readonly ImportOutcome[]> {
    const { clock, isWhole } = this.#options
    if (plants.length === 0) return []
    if (this.#uncommitted === 0) this.#openedMs = clock.monotonicMs()
    const jobs = plants.map(({ id, name, tag }) => ({ kind: 'importPlant', id, name, tag, onConflict }) as const)
    const outcomes = await this.#writer.import(jobs)
    this.#uncommitted += plants.length
    if (!isWhole && this.#isDue()) await this.commit()
    return outcomes
  }

  async commit(): Promise<void> {
    await this.#writer.commitImport()
    this.#uncommitted = 0
    // A server that waits looks only now and then whether it is its turn.
    if (this.#options.isServed()) await sleep(this.#options.limits.importPauseMs)
  }

  end(): Promise<void> {
    return this.#writer.endImport()
  }

  #isDue(): boolean {
    const { clock, limits, isServed } = this.#options
    if (this.#uncommitted >= limits.importCommitPlants) return true
    return clock.monotonicMs() - this.#openedMs >= limits.importCommitMs && isServed()
  }
}
