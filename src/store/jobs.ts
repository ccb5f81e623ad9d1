// The changes of a store as data: jobs and their outcomes.

import type { AppError } from '../domain/errors.ts'
import type { Plant, Preconditions } from '../domain/plant.ts'
import type { OnConflict, Rotation } from '../domain/store.ts'
import type { Token } from '../domain/token.ts'

/** What each kind of job needs. */
interface Jobs {
  createPlant: Plant & CallerOfJob & { readonly idempotencyKey: KeyOfPlant | undefined }
  replacePlant: Plant & CallerOfJob & { readonly preconditions: Preconditions }
  deletePlant: CallerOfJob & { readonly id: bigint; readonly preconditions: Preconditions }
  importPlant: Plant & { readonly onConflict: OnConflict }
  /** `onlyFirst`: only if the store has no token yet. */
  createToken: { readonly token: Token; readonly onlyFirst: boolean }
  revokeToken: { readonly id: string; readonly revokedAtMs: number }
  rotateToken: Rotation
  /** Days by token id. */
  noteTokenUses: { readonly days: ReadonlyMap<string, number> }
  sweepChanges: Sweep
  writeWebhook: {
    readonly id: string
    /** The version that it must have; 0: none. Undefined: any. */
    readonly version: number | undefined
    /** The webhook as JSON; undefined to remove it. */
    readonly content: string | undefined
  }
}

export type JobOf<Kind extends keyof Jobs> = { [Each in Kind]: { readonly kind: Each } & Jobs[Each] }[Kind]

export type Job = JobOf<keyof Jobs>

interface CallerOfJob {
  /** The id of the caller's credential, for the log of changes. */
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

/** Deletes the oldest rows of the log of changes. */
export interface Sweep {
  /** Keeps the changes after this time. */
  readonly untilMs: number
  /** Keeps the row with this number, and those behind it. */
  readonly keptFrom: bigint
  /** Maximum number of rows to delete. */
  readonly rowsMax: number
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
export function isPlainCreate(job: Job): job is JobOf<'createPlant'> {
  return job.kind === 'createPlant' && job.idempotencyKey === undefined
}
