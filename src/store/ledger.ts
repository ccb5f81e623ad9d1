// The rules of the store, once for every engine: given what is found in the store, what a batch of changes comes to,
// each job after the one before it, and what has to be written so that all of it is done.

import { type NewPlant, type Plant, plantOf, revisionOf } from '../domain/plant.ts'
import { type Preconditions, unmetPrecondition } from '../domain/preconditions.ts'
import type { Token } from '../domain/token.ts'
import type {
  CreatePlantJob,
  CreateTokenJob,
  ImportPlantJob,
  Job,
  KeyOfPlant,
  Outcome,
  RevokeTokenJob,
} from './jobs.ts'
import { Tally } from './tally.ts'

/** What has to be looked up before a batch can be decided. */
export interface Lookups {
  /** Ids of plants; each once. */
  readonly plants: readonly bigint[]
  readonly keys: readonly KeyOfPlant[]
  /** Tokens are looked up by these ids and by these hashes. */
  readonly tokenIds: readonly string[]
  readonly tokenHashes: readonly Uint8Array[]
  /** Whether it matters if there is any token, and nobody else may make the first one meanwhile. */
  readonly firstToken: boolean
}

/** What an engine found. */
export interface Found {
  readonly plants: ReadonlyMap<bigint, Plant>
  /** By `nameOfKey`, expired ones included. */
  readonly keys: ReadonlyMap<string, FoundKey>
  readonly tokens: readonly Pick<Token, 'id' | 'hash'>[]
  readonly hasTokens: boolean
}

export interface FoundKey {
  readonly fingerprint: Uint8Array
  readonly createdAtMs: number
}

/**
 * What an engine has to write, in this order. Plants are in the order of their ids, in which every server locks them.
 */
export interface Effects {
  readonly deleted: readonly bigint[]
  readonly updated: readonly NewPlant[]
  readonly inserted: readonly NewPlant[]
  /** How the numbers of plants change by the three above. */
  readonly tally: Tally
  /** Each takes the place of an expired one with its name, if there is one. */
  readonly keys: readonly KeyOfPlant[]
  readonly tokens: readonly Token[]
  /** The first revocation of a token counts. */
  readonly revocations: readonly RevokeTokenJob[]
}

export interface Decision {
  /** One for each job, in the order of the jobs. */
  readonly outcomes: readonly Outcome[]
  readonly effects: Effects
}

export function lookupsOf(jobs: readonly Job[]): Lookups {
  const plants = new Set<bigint>()
  const keys: KeyOfPlant[] = []
  const tokenIds: string[] = []
  const tokenHashes: Uint8Array[] = []
  let firstToken = false
  for (const job of jobs) {
    if (job.kind === 'createToken') {
      tokenIds.push(job.token.id)
      tokenHashes.push(job.token.hash)
      firstToken ||= job.onlyFirst
    } else if (job.kind === 'revokeToken') {
      tokenIds.push(job.id)
    } else {
      plants.add(job.id)
      if (job.kind === 'createPlant' && job.idempotencyKey !== undefined) keys.push(job.idempotencyKey)
    }
  }
  return { plants: [...plants], keys, tokenIds, tokenHashes, firstToken }
}

/** @param found everything that `lookupsOf` the jobs asks for. */
export function decide(jobs: readonly Job[], found: Found, idempotencyKeyMs: number): Decision {
  const ledger = new Ledger(found, idempotencyKeyMs)
  const outcomes = jobs.map((job) => ledger.do(job))
  return { outcomes, effects: ledger.effects() }
}

/** Keys are the caller's own. */
export function nameOfKey({ callerId, key }: { readonly callerId: string; readonly key: string }): string {
  return `${callerId} ${key}`
}

class Ledger {
  readonly #found: Found
  readonly #idempotencyKeyMs: number
  readonly #plants: Map<bigint, Plant>
  readonly #keys = new Map<string, KeyOfPlant>()
  readonly #tokens: Token[] = []
  readonly #revocations: RevokeTokenJob[] = []

  constructor(found: Found, idempotencyKeyMs: number) {
    this.#found = found
    this.#idempotencyKeyMs = idempotencyKeyMs
    this.#plants = new Map(found.plants)
  }

  do(job: Job): Outcome {
    switch (job.kind) {
      case 'createPlant':
        return job.idempotencyKey === undefined ? this.#create(job) : this.#createOnce(job, job.idempotencyKey)
      case 'replacePlant':
        return this.#change(job.id, job.preconditions, plantOf(job))
      case 'deletePlant':
        return this.#change(job.id, job.preconditions, undefined)
      case 'importPlant':
        return this.#import(job)
      case 'createToken':
        return this.#createToken(job)
      case 'revokeToken':
        return this.#revokeToken(job)
    }
  }

  effects(): Effects {
    const before = this.#found.plants
    const ids = [...new Set([...before.keys(), ...this.#plants.keys()])].sort((a, b) => (a < b ? -1 : 1))
    const inserted: NewPlant[] = []
    const updated: NewPlant[] = []
    const deleted: bigint[] = []
    const tally = new Tally()
    for (const id of ids) {
      const [old, now] = [before.get(id), this.#plants.get(id)]
      if (old !== undefined) tally.remove(old)
      if (now !== undefined) tally.add(now)
      if (now === undefined) deleted.push(id)
      else if (old === undefined) inserted.push({ id, ...now })
      else if (old !== now) updated.push({ id, ...now })
    }
    const keys = [...this.#keys.values()]
    return { deleted, updated, inserted, tally, keys, tokens: this.#tokens, revocations: this.#revocations }
  }

  #create(job: CreatePlantJob): Outcome {
    if (this.#plants.has(job.id)) return 'idTaken'
    this.#plants.set(job.id, plantOf(job))
    return 'created'
  }

  #createOnce(job: CreatePlantJob, key: KeyOfPlant): Outcome {
    const earlier = this.#keys.get(nameOfKey(key)) ?? this.#foundKey(key)
    if (earlier !== undefined) {
      return Buffer.compare(earlier.fingerprint, key.fingerprint) === 0 ? 'replayed' : 'idempotencyKeyReused'
    }
    const outcome = this.#create(job)
    if (outcome === 'created') this.#keys.set(nameOfKey(key), key)
    return outcome
  }

  #foundKey(key: KeyOfPlant): FoundKey | undefined {
    const found = this.#found.keys.get(nameOfKey(key))
    return found !== undefined && found.createdAtMs > key.atMs - this.#idempotencyKeyMs ? found : undefined
  }

  #change(id: bigint, preconditions: Preconditions, wanted: Plant | undefined): Outcome {
    const there = this.#plants.get(id)
    if (there === undefined) return 'notDone'
    const unmet = unmetPrecondition({ id, ...there }, preconditions)
    if (unmet !== undefined) return unmet
    if (wanted === undefined) this.#plants.delete(id)
    else this.#plants.set(id, wanted)
    return 'done'
  }

  #import(job: ImportPlantJob): Outcome {
    const { id, onConflict } = job
    const there = this.#plants.get(id)
    const wanted = plantOf(job)
    if (there !== undefined) {
      if (onConflict === 'fail') return 'idTaken'
      if (onConflict === 'skip' || revisionOf({ id, ...there }) === revisionOf({ id, ...wanted })) return 'unchanged'
    }
    this.#plants.set(id, wanted)
    return there === undefined ? 'created' : 'replaced'
  }

  #createToken({ token, onlyFirst }: CreateTokenJob): Outcome {
    if (onlyFirst && (this.#found.hasTokens || this.#tokens.length > 0)) return 'notDone'
    const isTwin = ({ id, hash }: Pick<Token, 'id' | 'hash'>): boolean =>
      id === token.id || Buffer.compare(hash, token.hash) === 0
    if (this.#found.tokens.some(isTwin) || this.#tokens.some(isTwin)) {
      return { failed: 'there is a token with this id or hash' }
    }
    this.#tokens.push(token)
    return 'done'
  }

  #revokeToken(job: RevokeTokenJob): Outcome {
    const isIt = ({ id }: Pick<Token, 'id'>): boolean => id === job.id
    if (!this.#found.tokens.some(isIt) && !this.#tokens.some(isIt)) return 'notDone'
    this.#revocations.push(job)
    return 'done'
  }
}
