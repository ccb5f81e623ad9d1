// The changes of a store as data: what is asked of an engine, and what comes of it.

import type { AppError } from '../domain/errors.ts'
import type { Preconditions } from '../domain/plant.ts'
import type { OnConflict, Rotation } from '../domain/store.ts'
import type { Token } from '../domain/token.ts'

export type Job =
  | CreatePlantJob
  | ReplacePlantJob
  | DeletePlantJob
  | ImportPlantJob
  | CreateTokenJob
  | RevokeTokenJob
  | RotateTokenJob
  | NoteTokenUsesJob

export interface CreatePlantJob {
  readonly kind: 'createPlant'
  readonly id: bigint
  readonly name: string
  readonly tag: string | undefined
  readonly idempotencyKey: KeyOfPlant | undefined
}

export interface KeyOfPlant {
  readonly callerId: string
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

/** A plant of an import. */
export interface ImportPlantJob {
  readonly kind: 'importPlant'
  readonly id: bigint
  readonly name: string
  readonly tag: string | undefined
  readonly onConflict: OnConflict
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

export interface RotateTokenJob extends Rotation {
  readonly kind: 'rotateToken'
}

export interface NoteTokenUsesJob {
  readonly kind: 'noteTokenUses'
  /** Days by the ids of tokens. */
  readonly days: ReadonlyMap<string, number>
}

/** One job's own outcome. */
export type Outcome =
  | 'created'
  | 'replayed'
  /** A plant is replaced now, or the token had been replaced before. */
  | 'replaced'
  /** What was to be imported is there already, or was passed over. */
  | 'unchanged'
  | 'idTaken'
  | 'idempotencyKeyReused'
  | 'done'
  /** There is nothing with the id, or, for `onlyFirst`, there is a token already. */
  | 'notDone'
  /** The token has ended. */
  | 'revoked'
  | 'expired'
  /** The precondition that is not met. */
  | keyof Preconditions
  /** An error of this job alone, with its text for the log: it was not done. */
  | { readonly failed: string }
  /** What was thrown of this job alone. */
  | { readonly refused: AppError }

/** A create without a key: all that it needs to know is whether its id is taken. */
export function isPlainCreate(job: Job): job is CreatePlantJob {
  return job.kind === 'createPlant' && job.idempotencyKey === undefined
}
