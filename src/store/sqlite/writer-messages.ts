// Messages between the store and its threads, sent by structured clone.

import type { PlantPage, PlantQuery, Summary } from '../../domain/store.ts'
import type { Limits } from '../../limits.ts'
import type { Job, JobOf, Outcome } from '../jobs.ts'
import type { Identity } from './file/names.ts'

/** Options of the writer thread. */
export interface WriterOptions {
  readonly path: string
  /** False if a server has the store open. */
  readonly isAlone: boolean
  readonly limits: Limits
}

export type ToWriter =
  /** `atMs`: the time of the changes, by the wall clock. */
  | { readonly kind: 'commit'; readonly jobs: readonly Job[]; readonly atMs: number }
  | { readonly kind: 'import'; readonly jobs: readonly JobOf<'importPlant'>[]; readonly atMs: number }
  | { readonly kind: 'commitImport' }
  | { readonly kind: 'endImport' }
  /** The store failed elsewhere. The thread preserves the log, answers `broken`, and stops working. */
  | { readonly kind: 'break' }
  | { readonly kind: 'close' }

/** `storeUnavailable`: the outcome is unknown, but the file is intact. */
export type RefusalCode = 'storeFull' | 'overloaded' | 'storeUnavailable'

export type FromWriter =
  | { readonly kind: 'opened'; readonly identity: Identity }
  /** `isLost`: a file of the store was deleted or replaced before anything was written. */
  | { readonly kind: 'notOpened'; readonly why: string; readonly isLost: boolean }
  | { readonly kind: 'done'; readonly outcomes: readonly Outcome[] }
  /** The transaction was rolled back. */
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly error: unknown }
  /** The state of the disk is unknown. The writer thread stops working. */
  | { readonly kind: 'broken'; readonly error: unknown }

/** Options of a lister thread. */
export interface ListerOptions {
  readonly path: string
  readonly limits: Limits
}

export type ToLister = { readonly kind: 'list'; readonly query: PlantQuery } | { readonly kind: 'summarize' }

export type FromLister =
  | { readonly kind: 'page'; readonly page: PlantPage }
  | { readonly kind: 'summary'; readonly summary: Summary }
  /** `isPassing`: the cause is a transient shortage of resources. */
  | { readonly kind: 'failed'; readonly isPassing: boolean; readonly error: unknown }
