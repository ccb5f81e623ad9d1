// What crosses between the store and its writer thread, by structured clone.

import type { ImportPlantJob, Job, Outcome } from '../jobs.ts'
import type { WritableOptions } from './database.ts'
import type { FileNames } from './identity.ts'
import type { TransactionLimits } from './transaction.ts'

/** What the writer thread is started with. */
export interface WriterOptions extends WritableOptions, TransactionLimits {
  readonly path: string
  readonly checkpointJobs: number
}

export type ToWriter =
  | { readonly kind: 'commit'; readonly jobs: readonly Job[] }
  | { readonly kind: 'import'; readonly jobs: readonly ImportPlantJob[] }
  | { readonly kind: 'commitImport' }
  | { readonly kind: 'endImport' }
  | { readonly kind: 'close' }

/** `storeUnavailable`: whether it was done is not known, but the file is sound. */
export type RefusalCode = 'storeFull' | 'overloaded' | 'storeUnavailable'

export type FromWriter =
  | { readonly kind: 'opened'; readonly fileNames: FileNames }
  | { readonly kind: 'notOpened'; readonly why: string }
  | { readonly kind: 'done'; readonly outcomes: readonly Outcome[] }
  /** The transaction was rolled back. */
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly error: unknown }
  /** What is on disk is not known any more. The writer thread does nothing after this. */
  | { readonly kind: 'broken'; readonly error: unknown }
