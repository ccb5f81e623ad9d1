// The Store: what every engine that keeps plants promises. test/store/suite.ts holds each engine to it.

import type { NewPlant, Plant, Preconditions } from './plant.ts'
import type { Token } from './token.ts'

/** What makes a repeated create safe: the request's Idempotency-Key, for one caller and one plant. */
export interface IdempotencyKey {
  readonly callerId: string
  /** The header's value, 1 to 255 visible ASCII characters. */
  readonly key: string
}

export interface PlantQuery {
  /** Only plants with a greater id. */
  readonly after?: bigint | undefined
  /** Only plants with exactly this tag. */
  readonly tag?: string | undefined
  /** Only plants whose folded name (`foldName`) begins with this one folded. */
  readonly namePrefix?: string | undefined
  /** Plants in a page, 1 or more. */
  readonly limit: number
}

export interface PlantPage {
  /**
   * The plants as they are answered: a JSON array in UTF-8, byte for byte what the serialiser of openapi.yaml gives. A
   * store has it in fewer steps than an object for each plant takes.
   */
  readonly json: Uint8Array<ArrayBuffer>
  /** Where the next page begins, for `after`; absent when there is nothing more. */
  readonly nextAfter?: bigint
}

/** What becomes of a plant whose id is taken: it is refused, passed over, or put in the place of the other one. */
export type OnConflict = 'fail' | 'skip' | 'replace'

/** `unchanged`: passed over by `skip`, or equal to what is there. */
export type ImportOutcome = 'created' | 'replaced' | 'unchanged' | 'idTaken'

export interface PlantImport {
  /**
   * Adds plants, in order, and gives one outcome each. Unless the import is whole, it commits by itself whenever that
   * is due, so that neither a transaction grows without bound nor a server that has the store, too, waits for long.
   */
  add(plants: readonly NewPlant[], onConflict: OnConflict): Promise<readonly ImportOutcome[]>
  /** Whether everything that was added is kept. */
  readonly isCommitted: boolean
  /** Keeps what was added; more may be added afterwards. */
  commit(): Promise<void>
  /** Ends the import. What was not committed is as if it had never been. */
  end(): Promise<void>
}

/**
 * - `created`: the plant is kept now.
 * - `replayed`: an earlier call with the same caller, key and plant created it, less than `idempotencyKeyMs` ago; this
 *   call changed nothing, even if the plant has changed since.
 */
export type CreateOutcome = 'created' | 'replayed'

export interface Summary {
  readonly plants: number
  /** The tags that most plants have, most plants first; of as many plants, in the order of their code points. */
  readonly tags: readonly TagCount[]
  /** False when there are too many to count: the numbers are estimates then, and a tag may be missing. */
  readonly isExact: boolean
}

export interface TagCount {
  readonly tag: string
  readonly plants: number
}

/** The operations on plants, each under the name that it has in openapi.yaml. Store says what holds for all of them. */
export interface PlantStore {
  /**
   * Creates a plant.
   *
   * @throws AppError `idTaken` when a plant has the id, which stays as it was; `idempotencyKeyReused` when the key was
   * used with another plant less than `idempotencyKeyMs` ago. A refused call leaves no key behind.
   */
  createPlant(plant: NewPlant, idempotencyKey?: IdempotencyKey): Promise<CreateOutcome>

  /** The plant with an id, or undefined. Sees every change that was acknowledged before the call. */
  getPlant(id: bigint): Promise<Plant | undefined>

  /**
   * Plants in the order of their ids. The cost of a page has a bound that does not grow with the store: a page that
   * would cost more is cut short, and says where to go on.
   *
   * @param assertWanted asked before a page is made that had to wait for others; rejects with what it throws.
   */
  listPlants(query: PlantQuery, assertWanted?: () => void): Promise<PlantPage>

  /** How many plants there are, and of which tags, at a cost that has a bound, however many there are. */
  getSummary(): Promise<Summary>

  /**
   * Gives a plant another name and tag.
   *
   * @throws AppError `unknownPlant` when there is none with the id; `preconditionFailed` when it does not meet
   * a precondition. The comparison and the change are one step.
   */
  replacePlant(plant: NewPlant, preconditions?: Preconditions): Promise<void>

  /** Deletes a plant. Throws as `replacePlant` does. */
  deletePlant(id: bigint, preconditions?: Preconditions): Promise<void>
}

export interface StoreSize {
  /** Of all plants; an estimate where counting would take long. */
  readonly plants: number
  /** Of the file, or of the tables with their indexes. */
  readonly bytes: number
  /** Of the write-ahead log of a file. */
  readonly logBytes?: number
  /** What is left of the disk of a file. */
  readonly diskFreeBytes?: number
  /** When the last backup of a file was complete, by the wall clock; 0 when there never was one. */
  readonly backedUpAtMs?: number
}

/** Why a token was not rotated: there is none with the id, or it has ended, or been rotated before. */
export type RotateOutcome = 'done' | 'notDone' | 'revoked' | 'expired' | 'replaced'

export interface Rotation {
  /** The id of the token to be replaced. */
  readonly id: string
  /** The token that takes its place. */
  readonly successor: Token
  /** When it takes its place, by the wall clock. */
  readonly atMs: number
  /** When the old token ends, unless it does so earlier by itself; at `atMs` it is revoked. */
  readonly endsAtMs: number
}

/** The access tokens of a store. */
export interface TokenStore {
  /** Keeps a token. Its id and hash are random enough to be new. */
  createToken(token: Token): Promise<void>

  /** Keeps a token when the store has none yet; false when it has. Of several callers at once one succeeds. */
  createFirstToken(token: Token): Promise<boolean>

  /** The token with a hash, revoked and expired ones included, or undefined. */
  findToken(hash: Uint8Array): Promise<Token | undefined>

  /** All tokens, revoked and expired ones included, oldest first. */
  listTokens(): Promise<readonly Token[]>

  /** Revokes a token for good; the first revocation's time stays. False when there is no token with the id. */
  revokeToken(id: string, revokedAtMs: number): Promise<boolean>

  /** Keeps a new token and has the one that it replaces end, in one step. Each token is replaced once. */
  rotateToken(rotation: Rotation): Promise<RotateOutcome>

  /** Notes on which day (`dayOf`) tokens were last used, by their ids. Of two days of a token the later one stays. */
  noteTokenUses(days: ReadonlyMap<string, number>): Promise<void>
}

/** Plants by the million. */
export interface BulkStore {
  /**
   * Begins an import. Until it is ended no other change may be asked of this Store. With `isWhole` nothing is kept
   * before `commit`, and other processes' changes of an SQLite file wait until then.
   */
  beginImport(options: { readonly isWhole: boolean }): Promise<PlantImport>

  /**
   * All plants in the order of their ids as they are at one moment, without concurrent changes. They come in
   * batches, as one by one they would cost more than what is in them. Several exports may go on at once.
   */
  exportPlants(tag?: string): AsyncIterable<readonly NewPlant[]>
}

/**
 * Keeps plants and tokens. For every method:
 *
 * - A promise that resolves after a change means that the change is on disk: it survives the death of the process and
 *   of the machine's power.
 * - A change is done whole or not at all, and changes by however many callers and processes happen one after the other.
 * - AppError `storeUnavailable` means that the outcome is unknown; `overloaded`, `storeAway`, `storeFull` and
 *   `shuttingDown` mean that nothing was done. No other failure leaves a doubt.
 * - Ids are exact over the whole of int64, texts are kept code point by code point.
 */
export interface Store extends PlantStore, TokenStore, BulkStore, AsyncDisposable {
  /**
   * False while every call would be refused at once, as the database cannot be used; it becomes true again by itself.
   */
  readonly isAvailable: boolean

  /** Changes that wait for a commit. */
  readonly waitingJobs: number

  /** How large the store is, and what else an operator watches, at a cost that has a bound. */
  measure(): Promise<StoreSize>

  /**
   * Aborted, with an Error as its reason, once the store can no longer keep its promises, as after a failed fsync.
   * Every call in flight and every later one is refused with `storeUnavailable`. The process has to end: only a new
   * start tells what is on disk.
   */
  readonly failed: AbortSignal

  /**
   * Lets the changes under way finish, refuses every later call with `shuttingDown`, and lets go of the store's files.
   */
  close(): Promise<void>
}
