// The changes of a store as data: jobs and their outcomes.

import type { AppError } from '../domain/errors.ts'
import type { Plant, Preconditions } from '../domain/plant.ts'
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
  | SweepChangesJob
  | WriteWebhookJob

export interface CreatePlantJob extends Plant {
  readonly kind: 'createPlant'
  readonly idempotencyKey: KeyOfPlant | undefined
  /** For the log of changes, as those of the other jobs. */
  readonly callerId?: string | undefined
}

export interface KeyOfPlant {
  readonly callerId: string
  readonly key: string
  /** SHA-256 of the plant. */
  readonly fingerprint: Uint8Array
  /** Arrival time of the request, by the wall clock. */
  readonly atMs: number
}

export interface ReplacePlantJob extends Plant {
  readonly kind: 'replacePlant'
  readonly preconditions: Preconditions
  readonly callerId?: string | undefined
}

export interface DeletePlantJob {
  readonly kind: 'deletePlant'
  readonly id: bigint
  readonly preconditions: Preconditions
  readonly callerId?: string | undefined
}

/** A plant of an import. */
export interface ImportPlantJob extends Plant {
  readonly kind: 'importPlant'
  readonly onConflict: OnConflict
}

export interface CreateTokenJob {
  readonly kind: 'createToken'
  readonly token: Token
  /** Only if the store has no token yet. */
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
  /** Days by token id. */
  readonly days: ReadonlyMap<string, number>
}

/** Deletes the oldest rows of the log of changes. */
export interface SweepChangesJob {
  readonly kind: 'sweepChanges'
  /** Keeps the changes after this time. */
  readonly untilMs: number
  /** Keeps the row with this number, and those behind it. */
  readonly keptFrom: bigint
  /** Maximum number of rows to delete. */
  readonly rowsMax: number
}

export interface WriteWebhookJob {
  readonly kind: 'writeWebhook'
  readonly id: string
  /** The version that it must have; 0: none. Undefined: any. */
  readonly version: number | undefined
  /** The webhook as JSON; undefined to remove it. */
  readonly content: string | undefined
}

export type Outcome =
  | 'created'
  | 'replayed'
  /** The plant was replaced, or the token had already been replaced. */
  | 'replaced'
  /** The plant equals the existing one, or was skipped. */
  | 'unchanged'
  | 'idTaken'
  | 'idempotencyKeyReused'
  | 'done'
  /** Nothing has the id, or the version; for `onlyFirst`, a token exists; for a sweep, fewer rows than its maximum were old enough. */
  | 'notDone'
  /** The token is no longer valid. */
  | 'revoked'
  | 'expired'
  /** The failed precondition. */
  | keyof Preconditions
  /** This job failed by itself and was not done. The message is for the log. */
  | { readonly failed: string }
  /** This job was rejected with an error of its own. */
  | { readonly refused: AppError }

/** A create without a key, which depends only on whether its id is taken. */
export function isPlainCreate(job: Job): job is CreatePlantJob {
  return job.kind === 'createPlant' && job.idempotencyKey === undefined
}
