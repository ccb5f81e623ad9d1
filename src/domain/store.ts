// The Store: the guarantees of every storage engine. test/store/suite.ts tests each engine.

import type { ChangePage, ChangeQuery } from './change.ts'
import type { Plant, Preconditions } from './plant.ts'
import type { Token } from './token.ts'
import type { StoredWebhook, Webhook } from './webhook.ts'

/** Makes a repeated create safe: the Idempotency-Key of a request, scoped to its caller. */
export interface IdempotencyKey {
  readonly callerId: string
  /** The header's value, 1 to 255 visible ASCII characters. */
  readonly key: string
}

export interface PlantQuery {
  /** Only plants with a greater id than this. */
  readonly after?: bigint | undefined
  /** Only plants with exactly this tag. */
  readonly tag?: string | undefined
  /** Only plants whose name begins with this prefix; both are folded (`foldName`). */
  readonly namePrefix?: string | undefined
  /** Maximum number of plants in a page, at least 1. */
  readonly limit: number
}

export interface PlantPage {
  /** The response body: a JSON array in UTF-8, in a buffer of its own, which is detached once the page is sent. */
  readonly json: Uint8Array<ArrayBuffer>
  /** The value of `after` for the next page; absent on the last page. */
  readonly nextAfter?: bigint
  /** Two pages have the same revision if and only if they are equal. */
  readonly revision: string
}

/** What an import does when an id is taken: reject the plant, skip it, or replace the existing one. */
export type OnConflict = 'fail' | 'skip' | 'replace'

/** `unchanged`: skipped, or equal to the existing plant. */
export type ImportOutcome = 'created' | 'replaced' | 'unchanged' | 'idTaken'

export interface PlantImport {
  /**
   * Adds plants, in order, and returns one outcome each. An import that is not whole commits periodically. This bounds
   * the size of a transaction and the time that a server on the same store waits.
   */
  add(plants: readonly Plant[], onConflict: OnConflict): Promise<readonly ImportOutcome[]>
  /** Whether all added plants are committed. */
  readonly isCommitted: boolean
  /** Commits the added plants. More may be added afterwards. */
  commit(): Promise<void>
  /** Ends the import. Rolls back uncommitted plants. */
  end(): Promise<void>
}

/**
 * - `created`: this call created the plant.
 * - `replayed`: a call with the same caller, key and plant created it less than `idempotencyKeyMs` ago. This call
 *   changed nothing, even if the plant has changed since.
 */
export type CreateOutcome = 'created' | 'replayed'

export interface Summary {
  readonly plants: number
  /** The most common tags, by descending number of plants, then by code points. */
  readonly tags: readonly TagCount[]
  /** False if there are too many plants or tags to count: numbers are then estimates, and tags may be missing. */
  readonly isExact: boolean
}

export interface TagCount {
  readonly tag: string
  readonly plants: number
}

/** The operations on plants, named as in openapi.yaml. `Store` has the guarantees that all of them share. */
export interface PlantStore {
  /**
   * Creates a plant.
   *
   * @param callerId the id of the caller's credential, for the log of changes, as in the other changes of plants.
   * @throws AppError `idTaken` if the id is taken; the existing plant stays unchanged. `idempotencyKeyReused` if the
   * key was used with another plant less than `idempotencyKeyMs` ago. A rejected call stores no key.
   */
  createPlant(plant: Plant, idempotencyKey?: IdempotencyKey, callerId?: string): Promise<CreateOutcome>

  /** Returns the plant with an id, at once if the store can. Sees every change acknowledged before the call. */
  getPlant(id: bigint): Plant | undefined | Promise<Plant | undefined>

  /**
   * Lists plants by ascending id. The cost of a page has a bound that does not grow with the store. A page that would
   * exceed it is cut short, and has a `nextAfter`.
   *
   * Returns the page at once if the store can. The caller must not change its bytes.
   *
   * @param assertWanted called before a queued page is made; if it throws, the call rejects with the same error.
   */
  listPlants(query: PlantQuery, assertWanted?: () => void): PlantPage | Promise<PlantPage>

  /** Counts the plants, in total and by tag, at a bounded cost. */
  getSummary(): Promise<Summary>

  /**
   * Replaces a plant. The precondition is checked atomically with the change.
   *
   * @throws AppError `unknownPlant` if no plant has the id; `preconditionFailed` if the plant fails a precondition.
   */
  replacePlant(plant: Plant, preconditions?: Preconditions, callerId?: string): Promise<void>

  /** Deletes a plant. Throws as `replacePlant` does. */
  deletePlant(id: bigint, preconditions?: Preconditions, callerId?: string): Promise<void>
}

export interface StoreSize {
  /** Number of plants; an estimate if counting would take long. */
  readonly plants: number
  /** Size of the file, or of the tables and their indexes. */
  readonly bytes: number
  /** Size of the changes in the log of changes, without indexes. */
  readonly changesBytes: number
  /** Size of the write-ahead log of a file. */
  readonly logBytes?: number
  /** Free space on the disk of a file. */
  readonly diskFreeBytes?: number
  /** When the last backup of a file completed, by the wall clock; 0 if there was none. */
  readonly backedUpAtMs?: number
}

/** `notDone`: no token has the id. `revoked`, `expired`, `replaced`: the token can no longer be rotated. */
export type RotateOutcome = 'done' | 'notDone' | 'revoked' | 'expired' | 'replaced'

export interface Rotation {
  /** The id of the token to replace. */
  readonly id: string
  readonly successor: Token
  /** Time of the rotation, by the wall clock. */
  readonly atMs: number
  /** When the old token expires, unless it expires earlier. If this is `atMs`, it is revoked. */
  readonly endsAtMs: number
}

export interface TokenStore {
  /** Stores a token. Its id and hash must be unique. */
  createToken(token: Token): Promise<void>

  /** Stores a token if the store has none yet; otherwise returns false. Only one of concurrent calls succeeds. */
  createFirstToken(token: Token): Promise<boolean>

  /** Returns the token with a hash, even if revoked or expired, or undefined. */
  findToken(hash: Uint8Array): Promise<Token | undefined>

  /** Lists all tokens, including revoked and expired ones, oldest first. */
  listTokens(): Promise<readonly Token[]>

  /** Revokes a token permanently. Keeps the time of its first revocation. Returns false if no token has the id. */
  revokeToken(id: string, revokedAtMs: number): Promise<boolean>

  /** Stores a new token and ends the one that it replaces, atomically. A token is replaced at most once. */
  rotateToken(rotation: Rotation): Promise<RotateOutcome>

  /** Records the day (`dayOf`) on which each token was last used. Never replaces a later day. */
  noteTokenUses(days: ReadonlyMap<string, number>): Promise<void>
}

export interface ChangeStore {
  /**
   * Reads the log of changes. Each change of a plant is logged in its own transaction. A reader that continues from the
   * `next` of each page sees every change exactly once, and the changes of each plant in their order. Sees every change
   * acknowledged before the call. A replacement that changes nothing is not logged.
   *
   * @throws AppError `positionGone` if `after` is not in the log: it was swept, the store was restored from a backup,
   * or it is not a position.
   */
  listChanges(query: ChangeQuery): Promise<ChangePage>

  /**
   * Deletes a bounded number of the oldest changes made up to a time. Of those, it keeps the last one, because a reader
   * may have its position.
   *
   * @param needed positions that readers still need; the changes after them are kept.
   * @returns whether more are left to delete.
   */
  sweepChanges(untilMs: number, needed?: readonly string[]): Promise<boolean>
}

/**
 * Stores plants and tokens. For every method:
 *
 * - Durable: once the promise of a change resolves, the change survives a crash and a power cut.
 * - Atomic and serializable: a change happens completely or not at all, and concurrent changes take effect one after
 *   another, across callers and processes.
 * - AppError `storeUnavailable` means that the outcome is unknown. `overloaded`, `storeAway`, `storeFull` and
 *   `shuttingDown` mean that nothing was done. No other failure leaves the outcome open.
 * - Ids are exact over the whole range of int64. Texts keep every code point.
 */
export interface Store extends PlantStore, TokenStore, ChangeStore, AsyncDisposable {
  /** Lists all webhooks, oldest first. */
  listWebhooks(): Promise<readonly StoredWebhook[]>

  /** Stores a webhook, which has version 1. Its id must be unique. */
  addWebhook(webhook: Webhook): Promise<void>

  /** Replaces a webhook if its version is still `version`. Returns false if it is not, or the webhook was removed. */
  replaceWebhook(webhook: Webhook, version: number): Promise<boolean>

  /** Removes a webhook. Returns false if no webhook has the id. */
  removeWebhook(id: string): Promise<boolean>

  /**
   * Begins an import. This Store accepts no other change until the import ends. With `isWhole`, nothing is stored
   * before `commit`, and other writers of an SQLite file wait until then.
   */
  beginImport(options: { readonly isWhole: boolean }): Promise<PlantImport>

  /** Reads a consistent snapshot of all plants by ascending id, in batches. Several exports may run at once. */
  exportPlants(): AsyncIterable<readonly Plant[]>

  /** Whether other servers may serve the same plants. */
  readonly isShared: boolean

  /** False while the database is unusable and every call would be rejected at once. Recovers automatically. */
  readonly isAvailable: boolean

  /** Number of changes waiting for a commit. */
  readonly waitingJobs: number

  /** Measures the size of the store, at a bounded cost. */
  measure(): Promise<StoreSize>

  /**
   * Aborted, with an Error as its reason, when the store can no longer keep its guarantees, for example after a failed
   * fsync. Pending and later calls reject with `storeUnavailable`. The process must exit: only a restart shows what is
   * on disk.
   */
  readonly failed: AbortSignal

  /** Waits for pending changes, rejects later calls with `shuttingDown`, and releases the files of the store. */
  close(): Promise<void>
}
