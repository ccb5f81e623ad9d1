// What a group of changes comes to: given what the database holds, each job's outcome, one after the other, and then what has to
// be written so that all of it is done.

import type { NewPlant, Plant } from '../../domain/plant.ts'
import { revisionOf } from '../../domain/plant.ts'
import { type Preconditions, unmetPrecondition } from '../../domain/preconditions.ts'
import type { ImportOutcome, OnConflict } from '../../domain/store.ts'
import type { Token } from '../../domain/token.ts'
import type { CreatePlantJob, CreateTokenJob, Job, KeyOfPlant, Outcome } from '../jobs.ts'

/** What the database holds of everything that a group asks for. */
export interface Found {
  readonly plants: ReadonlyMap<bigint, Plant>
  /** Fingerprints of the idempotency keys that are not outlived, by `nameOfKey`. */
  readonly keys: ReadonlyMap<string, Uint8Array>
  /** Ids, and hashes in hexadecimal digits, that tokens have. */
  readonly tokenNames: ReadonlySet<string>
  readonly hasTokens: boolean
  /** Ids of the tokens that were revoked, now or before. */
  readonly revokedTokens: ReadonlySet<string>
}

export interface Effects {
  readonly inserted: readonly NewPlant[]
  readonly updated: readonly NewPlant[]
  readonly deleted: readonly bigint[]
  readonly keys: readonly KeyOfPlant[]
  readonly tokens: readonly Token[]
}

export function nameOfKey({ tokenId, key }: { readonly tokenId: string; readonly key: string }): string {
  return `${tokenId} ${key}`
}

export function nameOfHash(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex')
}

export class Ledger {
  readonly #found: Found
  readonly #plants: Map<bigint, Plant>
  readonly #fingerprints: Map<string, Uint8Array>
  readonly #keys: KeyOfPlant[] = []
  readonly #tokenNames: Set<string>
  readonly #tokens: Token[] = []

  constructor(found: Found) {
    this.#found = found
    this.#plants = new Map(found.plants)
    this.#fingerprints = new Map(found.keys)
    this.#tokenNames = new Set(found.tokenNames)
  }

  do(job: Job): Outcome {
    switch (job.kind) {
      case 'createPlant':
        return job.idempotencyKey === undefined ? this.#create(job) : this.#createOnce(job, job.idempotencyKey)
      case 'replacePlant':
        return this.#change(job.id, job.preconditions, toPlant(job))
      case 'deletePlant':
        return this.#change(job.id, job.preconditions, undefined)
      case 'createToken':
        return this.#createToken(job)
      case 'revokeToken':
        return this.#found.revokedTokens.has(job.id) ? 'done' : 'notDone'
    }
  }

  import(plant: NewPlant, onConflict: OnConflict): ImportOutcome {
    const there = this.#plants.get(plant.id)
    if (there === undefined) {
      this.#plants.set(plant.id, toPlant(plant))
      return 'created'
    }
    if (onConflict === 'fail') return 'idTaken'
    if (onConflict === 'skip' || isEqual(plant.id, there, plant)) return 'unchanged'
    this.#plants.set(plant.id, toPlant(plant))
    return 'replaced'
  }

  /** What is to be written; plants in the order of their ids, in which every server locks them. */
  effects(): Effects {
    const before = this.#found.plants
    const ids = [...new Set([...before.keys(), ...this.#plants.keys()])].sort((a, b) => (a < b ? -1 : 1))
    const inserted: NewPlant[] = []
    const updated: NewPlant[] = []
    const deleted: bigint[] = []
    for (const id of ids) {
      const [old, now] = [before.get(id), this.#plants.get(id)]
      if (now === undefined) deleted.push(id)
      else if (old === undefined) inserted.push({ id, ...now })
      else if (old !== now) updated.push({ id, ...now })
    }
    return { inserted, updated, deleted, keys: this.#keys, tokens: this.#tokens }
  }

  #create(job: CreatePlantJob): Outcome {
    if (this.#plants.has(job.id)) return 'idTaken'
    this.#plants.set(job.id, toPlant(job))
    return 'created'
  }

  #createOnce(job: CreatePlantJob, key: KeyOfPlant): Outcome {
    const earlier = this.#fingerprints.get(nameOfKey(key))
    if (earlier !== undefined) {
      return Buffer.compare(earlier, key.fingerprint) === 0 ? 'replayed' : 'idempotencyKeyReused'
    }
    const outcome = this.#create(job)
    if (outcome === 'created') {
      this.#keys.push(key)
      this.#fingerprints.set(nameOfKey(key), key.fingerprint)
    }
    return outcome
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

  #createToken({ token, onlyFirst }: CreateTokenJob): Outcome {
    if (onlyFirst && (this.#found.hasTokens || this.#tokens.length > 0)) return 'notDone'
    const names = [token.id, nameOfHash(token.hash)]
    if (names.some((name) => this.#tokenNames.has(name))) return { failed: 'there is a token with this id or hash' }
    for (const name of names) this.#tokenNames.add(name)
    this.#tokens.push(token)
    return 'done'
  }
}

function toPlant({ name, tag }: { readonly name: string; readonly tag?: string | undefined }): Plant {
  return tag === undefined ? { name } : { name, tag }
}

function isEqual(id: bigint, a: Plant, b: Plant): boolean {
  return revisionOf({ id, ...toPlant(a) }) === revisionOf({ id, ...toPlant(b) })
}
