// What crosses between the store and its writer thread, by structured clone.

import type { NewPlant } from '../../domain/plant.ts'
import type { ImportOutcome, OnConflict } from '../../domain/store.ts'
import type { Job, Outcome } from '../jobs.ts'

/** What the writer thread is started with. */
export interface WriterOptions {
  readonly path: string
  readonly storeBusyMsMax: number
  readonly idempotencyKeyMs: number
  readonly checkpointJobs: number
}

export type ToWriter =
  | { readonly kind: 'commit'; readonly jobs: readonly Job[] }
  | { readonly kind: 'importPlants'; readonly plants: readonly NewPlant[]; readonly onConflict: OnConflict }
  | { readonly kind: 'commitImport' }
  | { readonly kind: 'endImport' }
  | { readonly kind: 'close' }

export type FromWriter =
  | { readonly kind: 'opened' }
  | { readonly kind: 'notOpened'; readonly why: string }
  | { readonly kind: 'committed'; readonly outcomes: readonly Outcome[] }
  | { readonly kind: 'imported'; readonly outcomes: readonly ImportOutcome[] }
  /** The transaction was rolled back: nothing was done. */
  | { readonly kind: 'refused'; readonly code: 'storeFull' | 'overloaded'; readonly error: unknown }
  /** What is on disk is not known any more. The writer does nothing after this. */
  | { readonly kind: 'broken'; readonly error: unknown }
