// Pseudorandom requests about a few plants, each checked against a model of the document. They meet
// combinations that no other row has, with texts that are hard to write, compare and store. They are the same in each
// run.

import { createHash } from 'node:crypto'
import { type Check, etagFor, field, hasNoBody, isPlant, ok, refusal, status } from '../checks.ts'
import type { NewPlant, Plant } from '../plant.ts'
import { near, type Row, row } from '../row.ts'
import type { Headers, Store } from '../store.ts'
import { among } from './lists.ts'

const rounds = 12
const stepsOfRound = 50
const plantsOfRound = 5
const keysOfRound = 4

const fragments = [
  ...['a', 'A', 'b', '0', 'null', '__proto__', ' ', '  ', '\n', '\r\n', '\t', '\u0001', '\u007f', '\u00a0', '\u2028'],
  ...['"', "'", '\\', '/', ',', ':', ';', '%', '%00', '_', '*', '+', '&', '&amp;', '#', '?', '<b>', '\\u0000', '\\n'],
  ...['[', '{', ']', '}', '['.repeat(40), '{"a":'.repeat(10), '\u00e9', 'e\u0301', '\u0130', 'ß', 'ẞ', 'Σ', 'ς', 'σ'],
  ...['\ufb01', '\ufdfa', '\ufeff', '\ufffd', '\uffff', '\ue000', '🌿', '\u{10ffff}', '\u{1d400}', '\u202e', '\u200d'],
] as const

export const randomRows: readonly Row[] = Array.from({ length: rounds }, (_, at) => {
  const title = `random requests are answered as the document says, round ${at + 1}`
  const document = 'the operations on plants, and how they work together (paths)'
  return row(title, { document, ids: near(plantsOfRound) }, (store, ...ids) => new Round(at + 1, ids, store).run())
})

class Round {
  readonly #round: number
  readonly #ids: readonly bigint[]
  readonly #store: Store
  readonly #plants = new Map<bigint, Plant>()
  readonly #keys = new Map<string, NewPlant>()
  /** By id, plants by the ETags that the server sent for them, the newest last. */
  readonly #etags: ReadonlyMap<bigint, Map<string, string>>
  #drawn = 0

  constructor(round: number, ids: readonly bigint[], store: Store) {
    this.#round = round
    this.#ids = ids
    this.#store = store
    this.#etags = new Map(ids.map((id) => [id, new Map()]))
  }

  async run(): Promise<void> {
    for (let step = 0; step < stepsOfRound; step += 1) {
      const id = this.#pick(this.#ids)
      const draw = this.#below(12)
      if (draw < 4) await this.#create(id)
      else if (draw < 6) await this.#replace(id)
      else if (draw < 7) await this.#delete(id)
      else if (draw < 10) await this.#read(id)
      else await this.#list()
    }
  }

  async #create(id: bigint): Promise<void> {
    const { nonce } = this.#store
    const plant = { id, ...this.#anyPlant() }
    const key = this.#below(2) === 0 ? undefined : `random-${this.#round}-${this.#below(keysOfRound)}-${nonce}`
    const headers = key === undefined ? {} : { 'Idempotency-Key': key }
    const earlier = key === undefined ? undefined : this.#keys.get(key)
    // Repeats are rare among random plants.
    const sent = earlier !== undefined && this.#below(2) === 0 ? earlier : plant
    if (earlier !== undefined) {
      const isSame = contentOf(earlier) === contentOf(sent) && earlier.id === sent.id
      await (isSame
        ? this.#store.create(sent, headers, [field('Idempotency-Replayed', 'true')])
        : this.#store.refuses('idempotencyKeyReused', sent, headers))
      return
    }
    if (this.#plants.has(sent.id)) {
      await this.#store.refuses('idTaken', sent, headers)
      return
    }
    const { id: _, ...made } = sent
    await this.#store.create(sent, headers, [field('Idempotency-Replayed', undefined)])
    this.#plants.set(sent.id, made)
    if (key !== undefined) this.#keys.set(key, sent)
  }

  async #replace(id: bigint): Promise<void> {
    const plant = this.#anyPlant()
    const condition = this.#condition(id)
    if (condition.refusal !== undefined) {
      await this.#store.put(id, plant, condition.refusal, condition.headers)
      return
    }
    const checks = [...ok, isPlant(plant), this.#isTaggedAs(id, plant)]
    await this.#store.put(id, plant, checks, condition.headers)
    this.#plants.set(id, plant)
  }

  async #delete(id: bigint): Promise<void> {
    const { headers, refusal } = this.#condition(id)
    await this.#store.remove(id, refusal ?? [status(204), hasNoBody], headers)
    if (refusal === undefined) this.#plants.delete(id)
  }

  async #read(id: bigint): Promise<void> {
    const there = this.#plants.get(id)
    if (there === undefined) {
      await this.#store.isMissing(id)
      return
    }
    const isThere = [...ok, isPlant({ id, ...there })]
    const known = this.#pickTagged(id)
    if (known !== undefined && this.#below(2) === 0) {
      const ifNoneMatch = this.#pick(['{}', 'W/{}', '"x", {}']).replace('{}', known[0])
      const checks = known[1] === contentOf(there) ? [status(304), hasNoBody] : isThere
      await this.#store.get(id, checks, { 'If-None-Match': ifNoneMatch })
      return
    }
    await this.#store.get(id, [...isThere, this.#isTaggedAs(id, there)])
  }

  async #list(): Promise<void> {
    const [first, last] = [this.#ids[0] as bigint, this.#ids.at(-1) as bigint]
    const listed = this.#ids.flatMap((id) => {
      const plant = this.#plants.get(id)
      return plant === undefined ? [] : [{ id, ...plant }]
    })
    const one = listed.length === 0 ? undefined : this.#pick(listed)
    const filter = this.#below(3)
    const from = `after=${first - 1n}`
    const limit = this.#pick([2, 3, 100])
    if (filter === 0 && one?.tag !== undefined) {
      const tagged = listed.filter(({ tag }) => tag === one.tag)
      await this.#store.list(`${from}&${among(one.tag)}`, tagged, limit, last)
    } else if (filter === 1 && one !== undefined) {
      const prefix = [...one.name].slice(0, this.#below(4)).join('')
      const named = listed.filter(({ name }) => folded(name).startsWith(folded(prefix)))
      await this.#store.list(`${from}&name=${encodeURIComponent(prefix)}`, named, limit, last)
    } else {
      await this.#store.list(from, listed, limit, last)
    }
  }

  /** A condition for a change, or none, and the refusal that it must cause. */
  #condition(id: bigint): { readonly headers: Headers; readonly refusal?: readonly Check[] } {
    const there = this.#plants.get(id)
    if (there === undefined) return { headers: {}, refusal: refusal('unknownPlant') }
    const known = this.#pickTagged(id)
    if (known === undefined || this.#below(2) === 0) return { headers: {} }
    const name = this.#pick(['If-Match', 'If-None-Match'])
    const headers = { [name]: this.#pick(['{}', '"x", {}', '{} , "a,b"']).replace('{}', known[0]) }
    const isMet = (known[1] === contentOf(there)) === (name === 'If-Match')
    return isMet ? { headers } : { headers, refusal: refusal('preconditionFailed') }
  }

  #isTaggedAs(id: bigint, plant: Plant): Check {
    return etagFor(contentOf(plant), this.#etags.get(id) as Map<string, string>)
  }

  #pickTagged(id: bigint): readonly [etag: string, content: string] | undefined {
    const known = [...(this.#etags.get(id) ?? [])]
    // More often the newest.
    return known.length === 0 ? undefined : this.#below(2) === 0 ? known.at(-1) : this.#pick(known)
  }

  /** Often another plant's text, split differently between name and tag. */
  #anyPlant(): Plant {
    const plant = this.#divided() ?? { name: this.#text('name'), tag: this.#text('tag') }
    const fits = this.#fits('name', plant.name) && (plant.tag === undefined || this.#fits('tag', plant.tag))
    return fits && this.#below(3) > 0 ? plant : { name: this.#text('name') }
  }

  #divided(): Plant | undefined {
    const others = [...this.#plants.values()]
    if (others.length === 0 || this.#below(3) > 0) return undefined
    const { name, tag } = this.#pick(others)
    const joint = this.#pick(['', '\n', ' ', ',', '\t'])
    return this.#pick<Plant>([
      { name, tag: tag ?? '' },
      { name: tag ?? '', tag: name },
      { name: `${name}${joint}${tag ?? ''}` },
      { name: name.normalize(), ...(tag !== undefined && { tag: tag.normalize() }) },
      { name: name.trim(), ...(tag !== undefined && { tag }) },
    ])
  }

  #fits(property: 'name' | 'tag', text: string): boolean {
    const { min, max } = this.#store.plants.lengthsOf(property)
    const { length } = [...text]
    return length >= min && length <= max
  }

  #text(property: 'name' | 'tag'): string {
    const { min, max } = this.#store.plants.lengthsOf(property)
    const text = Array.from({ length: this.#below(4) }, () => this.#pick(fragments)).join('')
    return [...text.padEnd(2 * min, 'n')].slice(0, max).join('')
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[this.#below(items.length)] as Item
  }

  /** An integer from 0. */
  #below(end: number): number {
    this.#drawn += 1
    return createHash('sha256').update(`${this.#round} ${this.#drawn}`).digest().readUInt32BE() % end
  }
}

function contentOf({ name, tag }: Plant): string {
  return JSON.stringify({ name, tag })
}

/** Ignores case in every script (compared in NFKC), as the document says of the parameter name. */
function folded(name: string): string {
  const upper = name.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase()
  return upper.replaceAll('\u03c2', '\u03c3').normalize('NFKC')
}
