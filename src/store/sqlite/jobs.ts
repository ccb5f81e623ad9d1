// What the store asks of its writer thread, and what comes back. All of it crosses between threads by structured clone.

import type { NewPlant } from '../../domain/plant.ts'
import type { Preconditions } from '../../domain/preconditions.ts'
import type { ImportOutcome, OnConflict } from '../../domain/store.ts'
import type { Token } from '../../domain/token.ts'

export type Job = CreatePlantJob | ReplacePlantJob | DeletePlantJob | CreateTokenJob | RevokeTokenJob

export interface CreatePlantJob {
  readonly kind: 'createPlant'
  readonly id: bigint
  readonly name: string
  readonly tag: string | undefined
  readonly idempotencyKey: KeyOfPlant | undefined
}

export interface KeyOfPlant {
  readonly tokenId: string
  readonly key: string
  /** SHA-256 of the plant. */
  readonly fingerprint: Uint8Array
  /** When the request came, by the wall clock. */
  readonly atMs: number
}

export interface ReplacePlantJob {
  readonly kind: 'replacePlant'
  readonly id: bigint
  readonly name: string
  readonly tag: string | undefined
  readonly preconditions: Preconditions
}

export interface DeletePlantJob {
  readonly kind: 'deletePlant'
  readonly id: bigint
  readonly preconditions: Preconditions
}

export interface CreateTokenJob {
  readonly kind: 'createToken'
  readonly token: Token
}

export interface RevokeTokenJob {
  readonly kind: 'revokeToken'
  readonly id: string
  readonly revokedAtMs: number
}

/** One job's own outcome; `failed` is an error of this job alone, with its text for the log. */
export type Outcome =
  | 'created'
  | 'replayed'
  | 'idTaken'
  | 'idempotencyKeyReused'
  | 'done'
  | 'unknown'
  /** The precondition that is not met. */
  | keyof Preconditions
  | { readonly failed: string }

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
