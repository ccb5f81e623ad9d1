// The changes of a store as data: what is asked of an engine, and what comes of it.

import type { AppError } from '../domain/errors.ts'
import type { Preconditions } from '../domain/preconditions.ts'
import type { Token } from '../domain/token.ts'

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
  /** Only when the store has no token yet. */
  readonly onlyFirst: boolean
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
  /** There is nothing with the id, or, for `onlyFirst`, there is a token already. */
  | 'notDone'
  /** The precondition that is not met. */
  | keyof Preconditions
  /** Whether it was done can not be told. */
  | 'inDoubt'
  | { readonly failed: string }
  /** What was thrown of this job alone. */
  | { readonly refused: AppError }
