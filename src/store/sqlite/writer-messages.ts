// What crosses between the store and its threads, by structured clone.

import type { PlantPage, PlantQuery, Summary } from '../../domain/store.ts'
import type { ImportPlantJob, Job, Outcome } from '../jobs.ts'
import type { WritableOptions } from './file/database.ts'
import type { FileNames } from './file/identity.ts'
import type { PagesLimits } from './pages.ts'
import type { TransactionLimits } from './transaction.ts'

/** What the writer thread is started with. */
export interface WriterOptions extends WritableOptions, TransactionLimits {
  readonly path: string
  readonly checkpointJobs: number
  readonly storeWatchMs: number
}

export type ToWriter =
  | { readonly kind: 'commit'; readonly jobs: readonly Job[] }
  | { readonly kind: 'import'; readonly jobs: readonly ImportPlantJob[] }
  | { readonly kind: 'commitImport' }
  | { readonly kind: 'endImport' }
  /** The store has failed elsewhere: the thread keeps what it can, answers `broken`, and does nothing more. */
  | { readonly kind: 'break' }
  | { readonly kind: 'close' }

/** `storeUnavailable`: whether it was done is not known, but the file is sound. */
export type RefusalCode = 'storeFull' | 'overloaded' | 'storeUnavailable'

export type FromWriter =
  | { readonly kind: 'opened'; readonly fileNames: FileNames }
  /** `isLost`: a file of the store lost its name before anything was written to it. */
  | { readonly kind: 'notOpened'; readonly why: string; readonly isLost: boolean }
  | { readonly kind: 'done'; readonly outcomes: readonly Outcome[] }
  /** The transaction was rolled back. */
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly error: unknown }
  /** What is on disk is not known any more. The writer thread does nothing after this. */
  | { readonly kind: 'broken'; readonly error: unknown }

/** What a lister thread is started with. */
export interface ListerOptions extends PagesLimits {
  readonly path: string
  readonly storeBusyMsMax: number
  readonly cacheBytes: number
  readonly summaryTagsCounted: number
}

export type ToLister = { readonly kind: 'list'; readonly query: PlantQuery } | { readonly kind: 'summarize' }

export type FromLister =
  | { readonly kind: 'page'; readonly page: PlantPage }
  | { readonly kind: 'summary'; readonly summary: Summary }
  /** There is no answer; `isPassing` when it was for want of something that may be there again. */
  | { readonly kind: 'failed'; readonly isPassing: boolean; readonly error: unknown }
