// Pseudorandom requests about a few plants, each checked against a model of the document. They meet
// combinations that no other row has, with texts that are hard to write, compare and store. They are the same in each
// run.

import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type Check, etagFor, field, hasNoBody, isPlant, ok, refusal, status } from '../checks.ts'
import type { NewPlant, Plant } from '../plant.ts'
import { type Headers, near, type Row, row, type Store } from '../row.ts'
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
      const there = this.#plants.get(id)
      const draw = this.#below(12)
      if (draw < 4) await this.#create(id)
      else if (draw < 6) await this.#replace(id, there)
      else if (draw < 7) await this.#delete(id, there)
      else if (draw < 10) await this.#read(id, there)
      else await this.#list()
    }
  }

  async #create(id: bigint): Promise<void> {
    const key = `random-${this.#round}-${this.#below(keysOfRound)}-${this.#store.nonce}`
    const isKeyed = this.#below(2) > 0
    const headers = isKeyed ? { 'Idempotency-Key': key } : {}
    const earlier = isKeyed ? this.#keys.get(key) : undefined
    // Repeats are rare among random plants.
    const sent = earlier !== undefined && this.#below(2) === 0 ? earlier : { id, ...this.#anyPlant() }
    if (earlier !== undefined) {
      await (isDeepStrictEqual(earlier, sent)
        ? this.#store.create(sent, headers, [field('Idempotency-Replayed', 'true')])
        : this.#store.refuses('idempotencyKeyReused', sent, headers))
      return
    }
    if (this.#plants.has(id)) {
      await this.#store.refuses('idTaken', sent, headers)
      return
    }
    const { id: _, ...made } = sent
    await this.#store.create(sent, headers, [field('Idempotency-Replayed', undefined)])
    this.#plants.set(id, made)
    if (isKeyed) this.#keys.set(key, sent)
  }

  async #replace(id: bigint, there: Plant | undefined): Promise<void> {
    const plant = this.#anyPlant()
    const { headers, refused } = this.#condition(id, there, 'If-Match', 'If-None-Match')
    const checks = refused ?? [...ok, isPlant(plant), this.#isTaggedAs(id, plant)]
    await this.#store.put(id, plant, checks, headers)
    if (refused === undefined) this.#plants.set(id, plant)
  }

  async #delete(id: bigint, there: Plant | undefined): Promise<void> {
    const { headers, refused } = this.#condition(id, there, 'If-Match', 'If-None-Match')
    await this.#store.remove(id, refused ?? [status(204), hasNoBody], headers)
    if (refused === undefined) this.#plants.delete(id)
  }

  async #read(id: bigint, there: Plant | undefined): Promise<void> {
    const { headers, refused } = this.#condition(id, there, 'If-None-Match')
    const isUnchanged = [status(304), hasNoBody]
    if (there === undefined) await this.#store.isMissing(id)
    else if (refused !== undefined) await this.#store.get(id, isUnchanged, headers)
    else await this.#store.get(id, [...ok, isPlant({ id, ...there }), this.#isTaggedAs(id, there)], headers)
  }

  async #list(): Promise<void> {
    const [first, last] = [this.#ids[0] as bigint, this.#ids.at(-1) as bigint]
    const all = this.#ids.flatMap((id) => {
      const plant = this.#plants.get(id)
      return plant === undefined ? [] : [{ id, ...plant }]
    })
    const { name, tag } = all.length === 0 ? { name: '', tag: undefined } : this.#pick<Plant>(all)
    const prefix = [...name].slice(0, this.#below(4)).join('')
    const byTag = [`&${among(tag ?? '')}`, all.filter((each) => each.tag === tag)] as const
    const byName = [
      `&name=${encodeURIComponent(prefix)}`,
      all.filter((each) => folded(each.name).startsWith(folded(prefix))),
    ] as const
    const [filter, listed] = this.#pick([['', all], byName, tag === undefined ? byName : byTag] as const)
    await this.#store.list(`after=${first - 1n}${filter}`, listed, this.#pick([2, 3, 100]), last)
  }

  /** A condition that names an ETag of the plant, or none, and how the request is refused, if it is. */
  #condition(
    id: bigint,
    there: Plant | undefined,
    ...names: readonly string[]
  ): { readonly headers: Headers; readonly refused?: readonly Check[] } {
    if (there === undefined) return { headers: {}, refused: refusal('unknownPlant') }
    const known = [...(this.#etags.get(id) ?? [])]
    if (known.length === 0 || this.#below(2) === 0) return { headers: {} }
    // More often the newest.
    const [etag, content] = this.#below(2) === 0 ? (known.at(-1) as (typeof known)[0]) : this.#pick(known)
    const name = this.#pick(names)
    const headers = { [name]: this.#pick(['{}', '"x", {}', '{} , "a,b"']).replace('{}', etag) }
    const isMet = (content === contentOf(there)) === (name === 'If-Match')
    return isMet ? { headers } : { headers, refused: refusal('preconditionFailed') }
  }

  #isTaggedAs(id: bigint, plant: Plant): Check {
    return etagFor(contentOf(plant), this.#etags.get(id) as Map<string, string>)
  }

  /** Often another plant's text, split differently between name and tag. */
  #anyPlant(): Plant {
    const others = [...this.#plants.values()]
    const isAnew = others.length === 0 || this.#below(3) > 0
    const { name, tag = '' } = isAnew ? { name: this.#text(), tag: this.#text() } : this.#pick(others)
    const texts = this.#pick([
      ...[
        [name, tag],
        [tag, name],
        [name.normalize(), tag.normalize()],
        [name.trim(), tag],
      ],
      [`${name}${this.#pick(['', '\n', ' ', ',', '\t'])}${tag}`],
    ])
    const plant = { name: this.#fitting('name', texts[0]) }
    return texts[1] === undefined || this.#below(3) === 0 ? plant : { ...plant, tag: this.#fitting('tag', texts[1]) }
  }

  #text(): string {
    return Array.from({ length: this.#below(4) }, () => this.#pick(fragments)).join('')
  }

  #fitting(property: 'name' | 'tag', text = ''): string {
    const { min, max } = this.#store.plants.lengthsOf(property)
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
