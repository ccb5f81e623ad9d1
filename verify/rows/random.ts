// Pseudorandom requests about a few plants, each checked against a model of what the document says. They meet
// combinations that no other row has, with texts that are hard to write, compare and store. They are the same in each
// run.

import { createHash } from 'node:crypto'
import { foldName } from '../../src/domain/plant.ts'
import { field, hasNoBody, isPlant, locates, refusal, status } from '../checks.ts'
import { fieldOf } from '../message.ts'
import { type NewPlant, type Plant, plantJson } from '../plant.ts'
import type { Check, Circumstances, OneStep, Row, Step } from '../row.ts'
import { get, put, remove, row } from './building.ts'
import { withEtagOf } from './etags.ts'
import { among, listUpTo } from './listing.ts'

const rounds = 8
const stepsOfRound = 80
const plantsOfRound = 5
const keysOfRound = 4

const fragments = [
  ...['a', 'A', 'b', '0', 'null', '__proto__', ' ', '  ', '\n', '\r\n', '\t', '\u0001', '\u007f', '\u00a0', '\u2028'],
  ...['"', "'", '\\', '/', ',', ':', ';', '%', '%00', '_', '*', '+', '&', '&amp;', '#', '?', '<b>', '\\u0000', '\\n'],
  ...['[', '{', ']', '}', '['.repeat(40), '{"a":'.repeat(10), '\u00e9', 'e\u0301', '\u0130', 'ß', 'ẞ', 'Σ', 'ς', 'σ'],
  ...['\ufb01', '\ufdfa', '\ufeff', '\ufffd', '\uffff', '\ue000', '🌿', '\u{10ffff}', '\u{1d400}', '\u202e', '\u200d'],
] as const

export function randomRows(circumstances: Circumstances): readonly Row[] {
  return Array.from({ length: rounds }, (_, round) => new Round(circumstances, round + 1).row())
}

/** An earlier answer with an ETag. */
interface Tagged {
  readonly step: number
  readonly plant: Plant
}

class Round {
  readonly #circumstances: Circumstances
  readonly #round: number
  readonly #ids: readonly bigint[]
  readonly #plants = new Map<bigint, Plant>()
  readonly #keys = new Map<string, NewPlant>()
  /** By id. */
  readonly #tagged = new Map<bigint, Tagged[]>()
  readonly #steps: Step[] = []
  #drawn = 0

  constructor(circumstances: Circumstances, round: number) {
    this.#circumstances = circumstances
    this.#round = round
    const first = circumstances.ids.next()
    this.#ids = Array.from({ length: plantsOfRound }, (_, at) => first + BigInt(at) + 1n)
  }

  row(): Row {
    while (this.#steps.length < stepsOfRound) this.#add()
    const title = `random requests are answered as the document says, round ${this.#round}`
    const document = 'the operations on plants, and how they work together'
    return row(title, { document, where: 'the paths of the document' }, this.#ids, ...this.#steps)
  }

  #add(): void {
    const id = this.#pick(this.#ids)
    const draw = this.#below(12)
    if (draw < 4) this.#create(id)
    else if (draw < 6) this.#replace(id)
    else if (draw < 7) this.#delete(id)
    else if (draw < 10) this.#read(id)
    else this.#list()
  }

  #create(id: bigint): void {
    const plant = { id, ...this.#anyPlant() }
    const key = this.#below(2) === 0 ? undefined : `random-${this.#round}-${this.#below(keysOfRound)}-${this.#nonce}`
    const earlier = key === undefined ? undefined : this.#keys.get(key)
    // Repeats are rare among random plants.
    const sent = earlier !== undefined && this.#below(2) === 0 ? earlier : plant
    const request = {
      body: plantJson(sent.id, sent.name, sent.tag),
      ...(key !== undefined && { headers: { 'Idempotency-Key': key } }),
    }
    if (earlier !== undefined) {
      const isSame = isEqual(earlier, sent) && earlier.id === sent.id
      const replayed = [...created(sent), field('Idempotency-Replayed', 'true')]
      this.#steps.push({ request, checks: isSame ? replayed : refusal('idempotencyKeyReused') })
      return
    }
    if (this.#plants.has(sent.id)) {
      this.#steps.push({ request, checks: refusal('idTaken') })
      return
    }
    const { id: _, ...made } = sent
    this.#plants.set(sent.id, made)
    if (key !== undefined) this.#keys.set(key, sent)
    this.#steps.push({ request, checks: [...created(sent), field('Idempotency-Replayed', undefined)] })
  }

  #replace(id: bigint): void {
    const plant = this.#anyPlant()
    const there = this.#plants.get(id)
    const body = JSON.stringify(plant)
    if (there === undefined) {
      this.#steps.push(put(id, body, refusal('unknownPlant')))
      return
    }
    const condition = this.#condition(id, there)
    if (condition?.isMet === false) {
      this.#steps.push(condition.of(put(id, body, refusal('preconditionFailed'))))
      return
    }
    const step = put(id, body, [status(200), isPlant(plant), this.#isTaggedAs(id, plant)])
    this.#steps.push(condition === undefined ? step : condition.of(step))
    this.#plants.set(id, plant)
    this.#note(id, plant)
  }

  #delete(id: bigint): void {
    const there = this.#plants.get(id)
    if (there === undefined) {
      this.#steps.push(remove(id, refusal('unknownPlant')))
      return
    }
    const condition = this.#condition(id, there)
    const step = remove(id, condition?.isMet === false ? refusal('preconditionFailed') : [status(204), hasNoBody])
    this.#steps.push(condition === undefined ? step : condition.of(step))
    if (condition?.isMet !== false) this.#plants.delete(id)
  }

  #read(id: bigint): void {
    const there = this.#plants.get(id)
    if (there === undefined) {
      this.#steps.push(get(id, refusal('unknownPlant')))
      return
    }
    const known = this.#pickTagged(id)
    if (known !== undefined && this.#below(2) === 0) {
      const isUnchanged = isEqual(known.plant, there)
      const checks = isUnchanged ? [status(304), hasNoBody] : [status(200), isPlant({ id, ...there })]
      this.#steps.push(withEtagOf(known.step, get(id, checks), 'If-None-Match', this.#pick(['{}', 'W/{}', '"x", {}'])))
      return
    }
    this.#steps.push(get(id, [status(200), isPlant({ id, ...there }), this.#isTaggedAs(id, there)]))
    this.#note(id, there)
  }

  #list(): void {
    const [first, last] = [this.#ids[0] as bigint, this.#ids.at(-1) as bigint]
    const listed = this.#ids.flatMap((id) => {
      const plant = this.#plants.get(id)
      return plant === undefined ? [] : [{ id, ...plant }]
    })
    const one = listed.length === 0 ? undefined : this.#pick(listed)
    const filter = this.#below(3)
    const from = `after=${first - 1n}`
    const limit = this.#pick([1, 2, 100])
    if (filter === 0 && one?.tag !== undefined) {
      const tagged = listed.filter(({ tag }) => tag === one.tag)
      this.#steps.push(listUpTo(last, `${from}&${among(one.tag)}`, tagged, limit))
    } else if (filter === 1 && one !== undefined) {
      const prefix = [...one.name].slice(0, this.#below(4)).join('')
      const named = listed.filter(({ name }) => foldName(name).startsWith(foldName(prefix)))
      this.#steps.push(listUpTo(last, `${from}&name=${encodeURIComponent(prefix)}`, named, limit))
    } else {
      this.#steps.push(listUpTo(last, from, listed, limit))
    }
  }

  /** A condition of a change, and whether the plant meets it; undefined for none. */
  #condition(id: bigint, there: Plant): { isMet: boolean; of: (step: OneStep) => OneStep } | undefined {
    const known = this.#pickTagged(id)
    if (known === undefined || this.#below(2) === 0) return undefined
    const isCurrent = isEqual(known.plant, there)
    const name = this.#pick(['If-Match', 'If-None-Match'])
    return {
      isMet: isCurrent === (name === 'If-Match'),
      of: (step) => withEtagOf(known.step, step, name, this.#pick(['{}', '"x", {}', '{} , "a,b"'])),
    }
  }

  /** Equal for equal plants, different for different ones. */
  #isTaggedAs(id: bigint, plant: Plant): Check {
    const earlier = [...(this.#tagged.get(id) ?? [])]
    return (answer, before) => {
      const etag = fieldOf(answer, 'etag')
      for (const known of earlier) {
        const other = before[known.step]
        const isSame = other !== undefined && fieldOf(other, 'etag') === etag
        if (isSame === isEqual(known.plant, plant)) continue
        return `ETag is ${etag}, ${isSame ? 'as for' : 'other than for the same'} ${JSON.stringify(known.plant)} in answer ${known.step + 1}`
      }
      return undefined
    }
  }

  /** The answer to the newest step has the ETag of a plant. */
  #note(id: bigint, plant: Plant): void {
    this.#tagged.set(id, [...(this.#tagged.get(id) ?? []), { step: this.#steps.length - 1, plant }])
  }

  #pickTagged(id: bigint): Tagged | undefined {
    const known = this.#tagged.get(id) ?? []
    // More often the newest.
    return known.length === 0 ? undefined : this.#below(2) === 0 ? known.at(-1) : this.#pick(known)
  }

  /** Often one whose texts another plant has, differently divided. */
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
    const { min, max } = this.#circumstances.plants.lengthsOf(property)
    const { length } = [...text]
    return length >= min && length <= max
  }

  #text(property: 'name' | 'tag'): string {
    const { min, max } = this.#circumstances.plants.lengthsOf(property)
    const text = Array.from({ length: this.#below(4) }, () => this.#pick(fragments)).join('')
    return [...text.padEnd(2 * min, 'n')].slice(0, max).join('')
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[this.#below(items.length)] as Item
  }

  /** An integer from 0. */
  #below(end: number): number {
    this.#drawn += 1
    const digest = createHash('sha256').update(`${this.#round} ${this.#drawn}`).digest()
    return digest.readUInt32BE() % end
  }

  get #nonce(): string {
    return this.#circumstances.nonce
  }
}

function created({ id, ...plant }: NewPlant): readonly Check[] {
  return [status(200), isPlant(plant), locates(id)]
}

function isEqual(one: Plant, other: Plant): boolean {
  return one.name === other.name && one.tag === other.tag
}
