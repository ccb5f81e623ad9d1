// The Store: what every engine that keeps plants promises. test/store/suite.ts holds each engine to it.

import type { NewPlant, Plant } from './plant.ts'
import type { Token } from './token.ts'

/** What makes a repeated create safe: the request's Idempotency-Key, for one token and one plant. */
export interface IdempotencyKey {
  readonly tokenId: string
  /** The header's value, 1 to 255 visible ASCII characters. */
  readonly key: string
}

/**
 * - `created`: the plant is kept now.
 * - `replayed`: an earlier call with the same token, key and plant created it, less than `idempotencyKeyMs` ago; this
 *   call changed nothing, whatever has become of the plant since.
 */
export type CreateOutcome = 'created' | 'replayed'

/**
 * Keeps plants and tokens. For every method:
 *
 * - A promise that resolves after a change means that the change is on disk: it survives the death of the process and
 *   of the machine's power.
 * - A change is done whole or not at all, and changes by however many callers and processes happen one after the other.
 * - AppError `storeUnavailable` means that the outcome is unknown; `overloaded`, `storeFull` and `shuttingDown` mean
 *   that nothing was done. No other failure leaves a doubt.
 * - Ids are exact over the whole of int64, texts are kept code point by code point.
 */
export interface Store extends AsyncDisposable {
  /**
   * Creates a plant.
   *
   * @throws AppError `idTaken` when a plant has the id, which stays as it was; `idempotencyKeyReused` when the key was
   * used with another plant less than `idempotencyKeyMs` ago. A refused call leaves no key behind.
   */
  createPlant(plant: NewPlant, idempotencyKey?: IdempotencyKey): Promise<CreateOutcome>

  /** The plant with an id, or undefined. Sees every change that was acknowledged before the call. */
  getPlant(id: bigint): Promise<Plant | undefined>

  /** Keeps a token. Its id and hash are random enough to be new. */
  createToken(token: Token): Promise<void>

  /** The token with a hash, revoked and expired ones included, or undefined. */
  findToken(hash: Uint8Array): Promise<Token | undefined>

  /** All tokens, revoked and expired ones included, oldest first. */
  listTokens(): Promise<readonly Token[]>

  /** Revokes a token for good; the first revocation's time stays. False when there is no token with the id. */
  revokeToken(id: string, revokedAtMs: number): Promise<boolean>

  /**
   * Aborted, with an Error as its reason, once the store can no longer keep its promises, as after a failed fsync.
   * Every call in flight and every later one is refused with `storeUnavailable`. The process has to end: only a new
   * start tells what is on disk.
   */
  readonly failed: AbortSignal

  /** Lets the changes under way finish, refuses every later call with `shuttingDown`, and lets go of the store's files. */
  close(): Promise<void>
}
