// A store in the simplest way: the model that any engine must come to the same as, whatever is done to it in a row.

import fc from 'fast-check'
import type { ErrorCode } from '../../src/domain/errors.ts'
import { foldName, int64Max, int64Min, namesOf, revisionOf } from '../../src/domain/plant.ts'
import type { OnConflict, PlantQuery, Summary } from '../../src/domain/store.ts'

const dayMs = 86_400_000

const plant = fc.record({
  id: fc.constantFrom(int64Min, -1n, 2n ** 53n + 1n, int64Max),
  name: fc.constantFrom('Ficus elastica', 'ﬁcus', 'ΦΊΚΟΣ 3', 'φίκος', '\u{10ffff}x', 'a\n"\u2028\u{1f33f}%'),
  tag: fc.constantFrom(undefined, '', 'fern'),
})
const revisions = fc.constantFrom(undefined, undefined, '*' as const, 'stale' as const, 'current' as const)
const callerId = fc.constantFrom(undefined, 'tok_a', 'tok_b')

/** Something that is done to a store; fields that its kind does not need count for nothing. */
export const step = fc.record({
  kind: fc.constantFrom('create', 'createOnce', 'createOnce', 'createOnce', 'replace', 'delete', 'import', 'wait'),
  plant,
  callerId,
  ifMatch: revisions,
  ifNoneMatch: revisions,
  plants: fc.array(plant, { minLength: 1, maxLength: 4 }),
  onConflict: fc.constantFrom<OnConflict[]>('fail', 'skip', 'replace'),
  isWhole: fc.boolean(),
  waitMs: fc.constantFrom(1, dayMs - 1, dayMs),
})
export type Step = typeof step extends fc.Arbitrary<infer Of> ? Of : never

type Revisions = '*' | readonly string[] | undefined

export class Model {
  readonly plants = new Map<bigint, string>()
  readonly changes: {
    readonly time: string
    readonly kind: string
    readonly plant: string
    readonly callerId?: string
  }[] = []
  /** The time of what is done next. */
  atMs = 0
  readonly #keys = new Map<string, { readonly json: string; readonly atMs: number }>()

  create(id: bigint, json: string, callerId?: string): ErrorCode | 'created' {
    if (this.plants.has(id)) return 'idTaken'
    this.#set('created', id, json, callerId)
    return 'created'
  }

  /** Each caller has one key. */
  createOnce(id: bigint, json: string, callerId: string): ReturnType<Model['create']> | 'replayed' {
    const used = this.#keys.get(callerId)
    if (used !== undefined && this.atMs - used.atMs < dayMs)
      return used.json === json ? 'replayed' : 'idempotencyKeyReused'
    const outcome = this.create(id, json, callerId)
    if (outcome === 'created') this.#keys.set(callerId, { json, atMs: this.atMs })
    return outcome
  }

  /** @param json undefined: the plant is deleted. */
  change(
    id: bigint,
    json: string | undefined,
    { ifMatch, ifNoneMatch }: { readonly ifMatch: Revisions; readonly ifNoneMatch: Revisions },
    callerId?: string,
  ): ErrorCode | 'done' {
    const there = this.plants.get(id)
    if (there === undefined) return 'unknownPlant'
    const isIn = (some: Revisions): boolean => some === '*' || some?.includes(revisionOf(there)) === true
    if ((ifMatch !== undefined && !isIn(ifMatch)) || isIn(ifNoneMatch)) return 'preconditionFailed'
    if (json === undefined) {
      this.plants.delete(id)
      this.#note('deleted', there, callerId)
    } else if (json !== there) this.#set('replaced', id, json, callerId)
    return 'done'
  }

  import(id: bigint, json: string, onConflict: OnConflict): string {
    const there = this.plants.get(id)
    if (there === undefined) return this.create(id, json)
    if (onConflict === 'fail') return 'idTaken'
    if (onConflict === 'skip' || there === json) return 'unchanged'
    this.#set('replaced', id, json)
    return 'replaced'
  }

  /** The texts of the plants of a query, whatever its limit. */
  list({ tag, namePrefix = '' }: Pick<PlantQuery, 'tag' | 'namePrefix'> = {}): readonly string[] {
    const sorted = [...this.plants].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, json]) => json)
    return sorted.filter((json) => {
      const names = namesOf(json)
      return (tag === undefined || names.tag === tag) && foldName(names.name).startsWith(foldName(namePrefix))
    })
  }

  summary(): Summary {
    const tags = Map.groupBy(this.list(), (json) => namesOf(json).tag)
    const counts = [...tags].flatMap(([tag, { length }]) => (tag === undefined ? [] : [{ tag, plants: length }]))
    counts.sort((one, other) => other.plants - one.plants || (one.tag < other.tag ? -1 : 1))
    return { plants: this.plants.size, tags: counts, isExact: true }
  }

  #set(kind: string, id: bigint, json: string, callerId?: string): void {
    this.plants.set(id, json)
    this.#note(kind, json, callerId)
  }

  #note(kind: string, plant: string, callerId: string | undefined): void {
    this.changes.push({
      time: new Date(this.atMs).toISOString(),
      kind,
      plant,
      ...(callerId !== undefined && { callerId }),
    })
  }
}
