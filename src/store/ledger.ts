// Jobs, which are changes of a store as data, their outcomes, and the rules of the store for all engines. The rules
// compute, from a batch of jobs and the rows that they concern, the outcome of each job and the rows to write.

import type { Change, ChangeKind } from '../domain/change.ts'
import type { AppError } from '../domain/errors.ts'
import { type Plant, type Preconditions, unmetPrecondition } from '../domain/plant.ts'
import type { IdempotencyKey, OnConflict } from '../domain/store.ts'

interface Jobs {
  createPlant: Plant & CallerOfJob & { readonly idempotencyKey: KeyOfPlant | undefined }
  replacePlant: Plant & CallerOfJob & { readonly preconditions: Preconditions }
  deletePlant: CallerOfJob & { readonly id: bigint; readonly preconditions: Preconditions }
  importPlant: Plant & { readonly onConflict: OnConflict }
  /** All of the records or none. `onlyFirst`: only if the store has no token yet. */
  writeRecords: { readonly records: readonly RecordWrite[]; readonly onlyFirst: boolean }
  sweepChanges: Sweep
}

export type JobOf<Kind extends keyof Jobs> = { [Each in Kind]: { readonly kind: Each } & Jobs[Each] }[Kind]

export type Job = JobOf<keyof Jobs>

interface CallerOfJob {
  /** The id of the caller's credential, for the log of changes. */
  readonly callerId?: string | undefined
}

export interface KeyOfPlant extends IdempotencyKey {
  /** SHA-256 of the plant. */
  readonly fingerprint: Uint8Array
  /** Arrival time of the request, by the wall clock. */
  readonly atMs: number
}

/** A token or a webhook to write. */
export interface RecordWrite {
  readonly kind: 'token' | 'webhook'
  readonly id: string
  /** The version that the stored record must have; 0: it must not exist; undefined: any. */
  readonly version: number | undefined
  /** The record as JSON, without its id and hash; undefined to remove it. */
  readonly content: string | undefined
  /** Of a token: SHA-256 of its secret. Never changes. */
  readonly hash?: Uint8Array
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

export interface Lookups {
  /** Ids of plants, without duplicates. */
  readonly plants: readonly bigint[]
  readonly keys: readonly KeyOfPlant[]
  readonly records: readonly RecordWrite[]
  /** Whether to look up if any token exists, and to keep other servers from making the first one meanwhile. */
  readonly firstToken: boolean
  readonly sweeps: readonly Sweep[]
}

export interface LookupResult {
  /** Texts by id. */
  readonly plants: ReadonlyMap<bigint, string>
  /** By `nameOfKey`, including expired keys. */
  readonly keys: ReadonlyMap<string, KeyOfPlant>
  /** Versions by `nameOfRecord`. */
  readonly records: ReadonlyMap<string, number>
  readonly hasTokens: boolean
  /** The first numbers of the rows of the log that each sweep may delete. */
  readonly sweepable: readonly (readonly bigint[])[]
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
  /** Each gets the version after the one that it replaces. */
  readonly records: readonly RecordWrite[]
}

export function lookupsOf(jobs: readonly Job[]): Lookups {
  const plants = new Set<bigint>()
  const keys: KeyOfPlant[] = []
  const records: RecordWrite[] = []
  const sweeps: Sweep[] = []
  let firstToken = false
  for (const job of jobs) {
    if (job.kind === 'writeRecords') {
      records.push(...job.records)
      firstToken ||= job.onlyFirst
    } else if (job.kind === 'sweepChanges') {
      sweeps.push(job)
    } else {
      plants.add(job.id)
      if (job.kind === 'createPlant' && job.idempotencyKey !== undefined) keys.push(job.idempotencyKey)
    }
  }
  return { plants: [...plants], keys, records, firstToken, sweeps }
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

export function nameOfRecord({ kind, id }: Pick<RecordWrite, 'kind' | 'id'>): string {
  return `${kind} ${id}`
}

class Ledger {
  readonly #found: LookupResult
  readonly #idempotencyKeyMs: number
  readonly #plants: Map<bigint, string>
  readonly #keys = new Map<string, KeyOfPlant>()
  readonly #changes: Change[] = []
  readonly #swept = new Set<bigint>()
  #sweeps = 0
  readonly #records = new Map<string, RecordWrite>()
  readonly #versions: Map<string, number>

  constructor(found: LookupResult, idempotencyKeyMs: number) {
    this.#found = found
    this.#idempotencyKeyMs = idempotencyKeyMs
    this.#plants = new Map(found.plants)
    this.#versions = new Map(found.records)
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
      case 'writeRecords':
        return this.#writeRecords(job)
      case 'sweepChanges':
        return this.#sweep(job)
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
    return {
      deleted,
      updated,
      inserted,
      keys: [...this.#keys.values()],
      changes: this.#changes,
      swept: [...this.#swept],
      records: [...this.#records.values()],
    }
  }

  #create(job: JobOf<'createPlant'>): Outcome {
    if (this.#plants.has(job.id)) return 'idTaken'
    this.#set('created', job, job.callerId)
    return 'created'
  }

  #createOnce(job: JobOf<'createPlant'>, key: KeyOfPlant): Outcome {
    const earlier = this.#keys.get(nameOfKey(key)) ?? this.#found.keys.get(nameOfKey(key))
    if (earlier !== undefined && earlier.atMs > key.atMs - this.#idempotencyKeyMs) {
      return Buffer.compare(earlier.fingerprint, key.fingerprint) === 0 ? 'replayed' : 'idempotencyKeyReused'
    }
    const outcome = this.#create(job)
    if (outcome === 'created') this.#keys.set(nameOfKey(key), key)
    return outcome
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

  #writeRecords({ records, onlyFirst }: JobOf<'writeRecords'>): Outcome {
    const hasTokens = this.#found.hasTokens || [...this.#records.values()].some(({ kind }) => kind === 'token')
    const isCurrent = (record: RecordWrite): boolean => {
      const there = this.#versions.get(nameOfRecord(record))
      return record.version === undefined ? there !== undefined : record.version === (there ?? 0)
    }
    if ((onlyFirst && hasTokens) || !records.every(isCurrent)) return 'notDone'
    for (const record of records) {
      const name = nameOfRecord(record)
      this.#records.set(name, record)
      if (record.content === undefined) this.#versions.delete(name)
      else this.#versions.set(name, (record.version ?? 0) + 1)
    }
    return 'done'
  }

  #sweep({ rowsMax }: Sweep): Outcome {
    const rows = this.#found.sweepable[this.#sweeps] ?? []
    this.#sweeps += 1
    for (const first of rows) this.#swept.add(first)
    return rows.length === rowsMax ? 'done' : 'notDone'
  }
}
