// Messages between the store and its threads, sent by structured clone.

import type { PlantPage, PlantQuery, Summary } from '../../domain/store.ts'
import type { ImportPlantJob, Job, Outcome } from '../jobs.ts'
import type { WritableOptions } from './file/database.ts'
import type { FileNames } from './file/identity.ts'
import type { PagesLimits, SearchQuery } from './pages.ts'
import type { TransactionLimits } from './transaction.ts'

/** Options of the writer thread. */
export interface WriterOptions extends WritableOptions, TransactionLimits {
  readonly path: string
  readonly checkpointJobs: number
  readonly storeWatchMs: number
}

export type ToWriter =
  /** `atMs`: the time of the changes, by the wall clock. */
  | { readonly kind: 'commit'; readonly jobs: readonly Job[]; readonly atMs: number }
  | { readonly kind: 'import'; readonly jobs: readonly ImportPlantJob[]; readonly atMs: number }
  | { readonly kind: 'commitImport' }
  | { readonly kind: 'endImport' }
  /** The store failed elsewhere. The thread preserves the log, answers `broken`, and stops working. */
  | { readonly kind: 'break' }
  | { readonly kind: 'close' }

/** `storeUnavailable`: the outcome is unknown, but the file is intact. */
export type RefusalCode = 'storeFull' | 'overloaded' | 'storeUnavailable'

export type FromWriter =
  | { readonly kind: 'opened'; readonly fileNames: FileNames }
  /** `isLost`: a file of the store was deleted or replaced before anything was written. */
  | { readonly kind: 'notOpened'; readonly why: string; readonly isLost: boolean }
  | { readonly kind: 'done'; readonly outcomes: readonly Outcome[] }
  /** The transaction was rolled back. */
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly error: unknown }
  /** The state of the disk is unknown. The writer thread stops working. */
  | { readonly kind: 'broken'; readonly error: unknown }

/** Options of a lister thread. */
export interface ListerOptions extends PagesLimits {
  readonly path: string
  readonly storeBusyMsMax: number
  readonly cacheBytes: number
  readonly summaryTagsCounted: number
}

export type ToLister =
  | { readonly kind: 'list'; readonly query: PlantQuery }
  | { readonly kind: 'search'; readonly query: SearchQuery }
  | { readonly kind: 'summarize' }

export type FromLister =
  | { readonly kind: 'page'; readonly page: PlantPage }
  | { readonly kind: 'summary'; readonly summary: Summary }
  /** `isPassing`: the cause is a transient shortage of resources. */
  | { readonly kind: 'failed'; readonly isPassing: boolean; readonly error: unknown }
