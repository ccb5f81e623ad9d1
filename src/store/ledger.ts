// Jobs, which are changes of a store as data, their outcomes, and the rules of the store for all engines. The rules
// compute, from a batch of jobs and the rows that they concern, the outcome of each job and the rows to write.

import type { Change, ChangeKind } from '../domain/change.ts'
import type { AppError } from '../domain/errors.ts'
import { type Plant, type Preconditions, unmetPrecondition } from '../domain/plant.ts'
import type { IdempotencyKey, OnConflict, Rotation } from '../domain/store.ts'
import { isTokenValid, type Token } from '../domain/token.ts'

interface Jobs {
  createPlant: Plant & CallerOfJob & { readonly idempotencyKey: KeyOfPlant | undefined }
  replacePlant: Plant & CallerOfJob & { readonly preconditions: Preconditions }
  deletePlant: CallerOfJob & { readonly id: bigint; readonly preconditions: Preconditions }
  importPlant: Plant & { readonly onConflict: OnConflict }
  /** `onlyFirst`: only if the store has no token yet. */
  createToken: { readonly token: Token; readonly onlyFirst: boolean }
  revokeToken: { readonly id: string; readonly revokedAtMs: number }
  rotateToken: Rotation
  noteTokenUses: { readonly days: ReadonlyMap<string, number> }
  /** Days by token id. */
  sweepChanges: Sweep
  writeWebhook: {
    readonly id: string
    /** The version that the stored webhook must have; 0: it must not exist; undefined: any. */
    readonly version: number | undefined
    /** The webhook as JSON; undefined to remove it. */
    readonly content: string | undefined
  }
}

export type JobOf<Kind extends keyof Jobs> = { [Each in Kind]: { readonly kind: Each } & Jobs[Each] }[Kind]

export type Job = JobOf<keyof Jobs>

interface CallerOfJob {
  readonly callerId?: string | undefined
  /** The id of the caller's credential, for the log of changes. */
}

export interface KeyOfPlant extends IdempotencyKey {
  /** SHA-256 of the plant. */
  readonly fingerprint: Uint8Array
  /** Arrival time of the request, by the wall clock. */
  readonly atMs: number
}

/** Deletes the oldest rows of the log of changes. */
export interface Sweep {
  /** Keeps the changes after this time. */
  readonly untilMs: number
  /** Changes after this time are from a clock that was ahead. */
  readonly futureMs: number
  /** Keeps the row with this number, and later ones. */
  readonly keptFrom: bigint
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
  /**
   * No row has the id, or the version; for `onlyFirst`, a token exists; for a sweep, fewer rows than its maximum were
   * old enough.
   */
  | 'notDone'
  /** The token is no longer valid. */
  | 'revoked'
  | 'expired'
  | keyof Preconditions
  /** This job failed by itself and was not done. The message is for the log. */
  | { readonly failed: string }
  /** This job was rejected with an error of its own. */
  /** The failed precondition. */
  | { readonly refused: AppError }

/** A create without a key, which depends only on whether its id is taken. */
export function isPlainCreate(job: Job): job is JobOf<'createPlant'> {
  return job.kind === 'createPlant' && job.idempotencyKey === undefined
}

export interface Lookups {
  /** Ids of plants, without duplicates. */
  readonly plants: readonly bigint[]
  readonly keys: readonly KeyOfPlant[]
  /** Tokens with any of these ids or hashes. */
  readonly tokenIds: readonly string[]
  readonly tokenHashes: readonly Uint8Array[]
  /** Whether to look up if any token exists, and to keep other servers from making the first one meanwhile. */
  readonly firstToken: boolean
  readonly sweeps: readonly Sweep[]
  readonly webhookIds: readonly string[]
}

export interface LookupResult {
  /** Texts by id. */
  readonly plants: ReadonlyMap<bigint, string>
  /** By `nameOfKey`, including expired keys. */
  readonly keys: ReadonlyMap<string, FoundKey>
  readonly tokens: ReadonlyMap<string, Token>
  readonly hasTokens: boolean
  /** The first numbers of the rows of the log that each sweep may delete. */
  readonly sweepable: readonly (readonly bigint[])[]
  /** Versions of webhooks by id. */
  readonly webhooks: ReadonlyMap<string, number>
  /** By id. */
}

export interface FoundKey {
  readonly fingerprint: Uint8Array
  readonly createdAtMs: number
}

/** What an engine must write, in this order. Plants are sorted by id, the order in which every server locks them. */
export interface Effects {
  /** The plants as they were. */
  readonly deleted: readonly Plant[]
  /** `before`: the text of the plant as it was. */
  readonly updated: readonly (Plant & { readonly before: string })[]
  readonly inserted: readonly Plant[]
  /** Each replaces an expired key of the same name, if any. */
  readonly keys: readonly KeyOfPlant[]
  /** For the log, in the order of the jobs. */
  readonly changes: readonly Change[]
  /** The first numbers of rows of the log to delete. */
  readonly swept: readonly bigint[]
  readonly webhooks: readonly WebhookRow[]
  readonly insertedTokens: readonly Token[]
  readonly updatedTokens: readonly Token[]
}

export interface WebhookRow {
  readonly id: string
  readonly version: number
  readonly content: string | undefined
}

export function lookupsOf(jobs: readonly Job[]): Lookups {
  const plants = new Set<bigint>()
  const keys: KeyOfPlant[] = []
  const tokenIds: string[] = []
  const tokenHashes: Uint8Array[] = []
  /** Undefined: the row is deleted. */
  const sweeps: Sweep[] = []
  const webhookIds = new Set<string>()
  let firstToken = false
  for (const job of jobs) {
    if (job.kind === 'createToken') {
      tokenIds.push(job.token.id)
      tokenHashes.push(job.token.hash)
      firstToken ||= job.onlyFirst
    } else if (job.kind === 'revokeToken') {
      tokenIds.push(job.id)
    } else if (job.kind === 'rotateToken') {
      tokenIds.push(job.id, job.successor.id)
      tokenHashes.push(job.successor.hash)
    } else if (job.kind === 'sweepChanges') {
      sweeps.push(job)
    } else if (job.kind === 'writeWebhook') {
      webhookIds.add(job.id)
    } else if (job.kind === 'noteTokenUses') {
      tokenIds.push(...job.days.keys())
    } else {
      plants.add(job.id)
      if (job.kind === 'createPlant' && job.idempotencyKey !== undefined) keys.push(job.idempotencyKey)
    }
  }
  return { plants: [...plants], keys, tokenIds, tokenHashes, firstToken, sweeps, webhookIds: [...webhookIds] }
}

/** Returns one outcome per job, in order, and what to write. @param found the result of `lookupsOf(jobs)`. */
export function decide(
  jobs: readonly Job[],
  found: LookupResult,
  idempotencyKeyMs: number,
): { readonly outcomes: readonly Outcome[]; readonly effects: Effects } {
  const ledger = new Ledger(found, idempotencyKeyMs)
  const outcomes = jobs.map((job) => ledger.do(job))
  return { outcomes, effects: ledger.effects() }
}

/** Keys are scoped to their caller. */
export function nameOfKey({ callerId, key }: IdempotencyKey): string {
  return `${callerId} ${key}`
}

class Ledger {
  readonly #found: LookupResult
  readonly #idempotencyKeyMs: number
  readonly #plants: Map<bigint, string>
  readonly #tokens: Map<string, Token>
  readonly #keys = new Map<string, KeyOfPlant>()
  readonly #changes: Change[] = []
  readonly #swept = new Set<bigint>()
  #sweeps = 0
  readonly #webhooks = new Map<string, WebhookRow>()

  constructor(found: LookupResult, idempotencyKeyMs: number) {
    this.#found = found
    this.#idempotencyKeyMs = idempotencyKeyMs
    this.#plants = new Map(found.plants)
    this.#tokens = new Map(found.tokens)
  }

  do(job: Job): Outcome {
    switch (job.kind) {
      case 'createPlant':
        return job.idempotencyKey === undefined ? this.#create(job) : this.#createOnce(job, job.idempotencyKey)
      case 'replacePlant':
        return this.#replace(job)
      case 'deletePlant':
        return this.#delete(job)
      case 'importPlant':
        return this.#import(job)
      case 'createToken':
        return this.#createToken(job)
      case 'revokeToken':
        return this.#revokeToken(job)
      case 'rotateToken':
        return this.#rotateToken(job)
      case 'noteTokenUses':
        return this.#noteUses(job)
      case 'sweepChanges':
        return this.#sweep(job)
      case 'writeWebhook':
        return this.#writeWebhook(job)
    }
  }

  effects(): Effects {
    const before = this.#found.plants
    const ids = [...new Set([...before.keys(), ...this.#plants.keys()])].sort((a, b) => (a < b ? -1 : 1))
    const inserted: Plant[] = []
    const updated: (Plant & { readonly before: string })[] = []
    const deleted: Plant[] = []
    for (const id of ids) {
      const [old, now] = [before.get(id), this.#plants.get(id)]
      if (old === now) continue
      if (now === undefined) deleted.push({ id, json: old as string })
      else if (old === undefined) inserted.push({ id, json: now })
      else updated.push({ id, json: now, before: old })
    }
    const tokens = [...this.#tokens.values()].filter((token) => this.#found.tokens.get(token.id) !== token)
    return {
      deleted,
      updated,
      inserted,
      keys: [...this.#keys.values()],
      changes: this.#changes,
      swept: [...this.#swept],
      webhooks: [...this.#webhooks.values()],
      insertedTokens: tokens.filter(({ id }) => !this.#found.tokens.has(id)),
      updatedTokens: tokens.filter(({ id }) => this.#found.tokens.has(id)),
    }
  }

  #create(job: JobOf<'createPlant'>): Outcome {
    if (this.#plants.has(job.id)) return 'idTaken'
    this.#set('created', job, job.callerId)
    return 'created'
  }

  #createOnce(job: JobOf<'createPlant'>, key: KeyOfPlant): Outcome {
    const earlier = this.#keys.get(nameOfKey(key)) ?? this.#foundKey(key)
    const isSame = earlier !== undefined && Buffer.compare(earlier.fingerprint, key.fingerprint) === 0
    if (earlier !== undefined) return isSame ? 'replayed' : 'idempotencyKeyReused'
    const outcome = this.#create(job)
    if (outcome === 'created') this.#keys.set(nameOfKey(key), key)
    return outcome
  }

  #foundKey(key: KeyOfPlant): FoundKey | undefined {
    const found = this.#found.keys.get(nameOfKey(key))
    return found !== undefined && found.createdAtMs > key.atMs - this.#idempotencyKeyMs ? found : undefined
  }

  #replace(job: JobOf<'replacePlant'>): Outcome {
    const there = this.#plants.get(job.id)
    if (there === undefined) return 'notDone'
    const unmet = unmetPrecondition(there, job.preconditions)
    if (unmet !== undefined) return unmet
    if (there === job.json) return 'unchanged'
    this.#set('replaced', job, job.callerId)
    return 'replaced'
  }

  #delete({ id, preconditions, callerId }: JobOf<'deletePlant'>): Outcome {
    const there = this.#plants.get(id)
    if (there === undefined) return 'notDone'
    const unmet = unmetPrecondition(there, preconditions)
    if (unmet !== undefined) return unmet
    this.#plants.delete(id)
    this.#changes.push({ kind: 'deleted', plant: { id, json: there }, callerId })
    return 'done'
  }

  #import(job: JobOf<'importPlant'>): Outcome {
    const { id, json, onConflict } = job
    const there = this.#plants.get(id)
    if (there === undefined) {
      this.#set('created', job, undefined)
      return 'created'
    }
    if (onConflict === 'fail') return 'idTaken'
    if (onConflict === 'skip' || there === json) return 'unchanged'
    this.#set('replaced', job, undefined)
    return 'replaced'
  }

  #set(kind: ChangeKind, { id, json }: Plant, callerId: string | undefined): void {
    this.#plants.set(id, json)
    this.#changes.push({ kind, plant: { id, json }, callerId })
  }

  #createToken({ token, onlyFirst }: JobOf<'createToken'>): Outcome {
    if (onlyFirst && (this.#found.hasTokens || this.#tokens.size > 0)) return 'notDone'
    return this.#addToken(token)
  }

  #addToken(token: Token): Outcome {
    const isTwin = ({ id, hash }: Token): boolean => id === token.id || Buffer.compare(hash, token.hash) === 0
    if ([...this.#tokens.values()].some(isTwin)) return { failed: 'there is a token with this id or hash' }
    this.#tokens.set(token.id, token)
    return 'done'
  }

  /** Only the first revocation of a token counts. */
  #revokeToken({ id, revokedAtMs }: JobOf<'revokeToken'>): Outcome {
    const token = this.#tokens.get(id)
    if (token === undefined) return 'notDone'
    if (token.revokedAtMs === undefined) this.#tokens.set(id, { ...token, revokedAtMs })
    return 'done'
  }

  #rotateToken({ id, successor, atMs, endsAtMs }: JobOf<'rotateToken'>): Outcome {
    const old = this.#tokens.get(id)
    if (old === undefined) return 'notDone'
    if (old.revokedAtMs !== undefined) return 'revoked'
    if (!isTokenValid(old, atMs)) return 'expired'
    if (old.replacedBy !== undefined) return 'replaced'
    const outcome = this.#addToken(successor)
    if (outcome !== 'done') return outcome
    const expiresAtMs = Math.min(endsAtMs, old.expiresAtMs ?? Number.POSITIVE_INFINITY)
    const end = endsAtMs <= atMs ? { revokedAtMs: atMs } : { expiresAtMs }
    this.#tokens.set(id, { ...old, ...end, replacedBy: successor.id })
    return 'done'
  }

  #noteUses({ days }: JobOf<'noteTokenUses'>): Outcome {
    for (const [id, day] of days) {
      const token = this.#tokens.get(id)
      if (token !== undefined && day > (token.lastUsedDay ?? -1)) this.#tokens.set(id, { ...token, lastUsedDay: day })
    }
    return 'done'
  }

  #sweep({ rowsMax }: Sweep): Outcome {
    const rows = this.#found.sweepable[this.#sweeps] ?? []
    this.#sweeps += 1
    for (const first of rows) this.#swept.add(first)
    return rows.length === rowsMax ? 'done' : 'notDone'
  }

  #writeWebhook({ id, version, content }: JobOf<'writeWebhook'>): Outcome {
    const written = this.#webhooks.get(id)
    const there = written === undefined ? this.#found.webhooks.get(id) : written.content && written.version
    if (version === undefined ? there === undefined : version !== (there ?? 0)) return 'notDone'
    this.#webhooks.set(id, { id, version: (version ?? 0) + 1, content })
    return 'done'
  }
}
