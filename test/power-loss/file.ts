// A file as a power cut may leave it: synced bytes are there; of later writes, any sectors may be. A page whose sync
// failed counts as clean for the operating system, and stays unwritten until it changes again.

import type { Random } from './random.ts'

const pageBytes = 4_096
const sectorBytes = 512
const noBytes = Buffer.alloc(pageBytes)

/** How much of what was not synced got to the disk. */
export interface Cut {
  /** Of the writes: whole ones, parts of all, or the first ones and a part of the next. */
  readonly how: 'everything' | 'nothing' | 'writes' | 'sectors' | 'inOrder'
  /** Of each write, or of each sector of one that got there in part. */
  readonly chance: number
  /** That a page is there although its sync failed. */
  readonly failedChance: number
}

type Fate = 'there' | 'away' | 'torn'

/** A page as it was from one event to the next. */
interface Version {
  readonly at: number
  /** Truncations of the file before it. */
  readonly era: number
  readonly bytes: Buffer
  readonly isTruncation: boolean
  isFailed: boolean
}

interface Page {
  durable: Buffer
  cached: Buffer
  /** What the disk may hold instead of `durable`, oldest first. */
  versions: Version[]
}

interface Size {
  readonly at: number
  readonly era: number
  readonly bytes: number
}

export class SimulatedFile {
  readonly #pages = new Map<number, Page>()
  /** Pages that have versions. */
  readonly #unsettled = new Set<Page>()
  /** The durable size, and those that came after it. */
  #sizes: [Size, ...Size[]]
  #era = 0

  constructor(content: Buffer = Buffer.alloc(0)) {
    for (let offset = 0; offset < content.length; offset += pageBytes) {
      const bytes = Buffer.alloc(pageBytes)
      content.copy(bytes, 0, offset)
      this.#pages.set(offset / pageBytes, { durable: bytes, cached: bytes, versions: [] })
    }
    this.#sizes = [{ at: -1, era: 0, bytes: content.length }]
  }

  get #size(): Size {
    return this.#sizes.at(-1) ?? this.#sizes[0]
  }

  write(offset: number, bytes: Buffer, at: number): void {
    for (let done = 0; done < bytes.length; ) {
      const index = Math.floor((offset + done) / pageBytes)
      const start = (offset + done) % pageBytes
      const piece = bytes.subarray(done, done + pageBytes - start)
      this.#change(index, at, false, (page) => piece.copy(page, start))
      done += piece.length
    }
    const size = offset + bytes.length
    if (size > this.#size.bytes) this.#sizes.push({ at, era: this.#era, bytes: size })
  }

  truncate(size: number, at: number): void {
    this.#era += 1
    for (const index of this.#pages.keys()) {
      const kept = size - index * pageBytes
      if (kept < pageBytes) this.#change(index, at, true, (page) => page.fill(0, Math.max(kept, 0)))
    }
    this.#sizes.push({ at, era: this.#era, bytes: size })
  }

  #change(index: number, at: number, isTruncation: boolean, edit: (page: Buffer) => void): void {
    const page = this.#pages.get(index) ?? { durable: noBytes, cached: noBytes, versions: [] }
    const bytes = Buffer.from(page.cached)
    edit(bytes)
    page.cached = bytes
    page.versions.push({ at, era: this.#era, bytes, isTruncation, isFailed: false })
    this.#pages.set(index, page)
    this.#unsettled.add(page)
  }

  /** Makes durable what came before an event; without `isDone`, sees to it that no later sync does. */
  sync(begunAt: number, isDone: boolean): void {
    for (const page of this.#unsettled) {
      const last = page.versions.findLastIndex(({ at, isFailed }) => !isFailed && at < begunAt)
      if (last === -1) continue
      if (isDone) page.durable = page.versions[last]?.bytes ?? page.durable
      if (isDone) page.versions.splice(0, last + 1)
      else for (const version of page.versions.slice(0, last + 1)) version.isFailed = true
      if (page.versions.length === 0) this.#unsettled.delete(page)
    }
    if (!isDone) return
    const last = this.#sizes.findLastIndex(({ at }) => at < begunAt)
    const [durable, ...later] = this.#sizes.slice(Math.max(last, 0))
    if (durable !== undefined) this.#sizes = [durable, ...later]
  }

  /** What the programs of the machine read. */
  get content(): Buffer {
    return this.#assemble(this.#size.bytes, ({ cached }) => cached)
  }

  /** What a disk may hold after a power cut. */
  afterCut(cut: Cut, random: Random): Buffer {
    // A file system keeps a truncation in order with the writes around it. Those are there up to one of its eras.
    const oldest = this.#sizes[0].era
    const era = drawBetween(oldest, this.#era, cut, random)
    const sizes = this.#sizes.filter((size) => size.era === era)
    const size = sizes[drawBetween(0, sizes.length - 1, cut, random)]
    const writes = new Set([...this.#unsettled].flatMap(({ versions }) => versions.map(({ at }) => at)))
    const inOrder = [...writes].sort((a, b) => a - b)
    const fates = decideFates(inOrder, cut, random)
    return this.#assemble(size?.bytes ?? 0, (page) => pageAfterCut(page, era, fates, cut, random))
  }

  #assemble(size: number, contentOf: (page: Page) => Buffer): Buffer {
    const content = Buffer.alloc(size)
    for (const [index, page] of this.#pages) {
      if (index * pageBytes < size) contentOf(page).copy(content, index * pageBytes)
    }
    return content
  }
}

/** How far what happens in order got. */
export function drawBetween(least: number, most: number, { how }: Cut, random: Random): number {
  if (how === 'everything') return most
  return how === 'nothing' ? least : random.between(least, most)
}

function decideFates(writes: readonly number[], { how, chance }: Cut, random: Random): Map<number, Fate> {
  const end = random.below(writes.length + 1)
  const fateOf = (index: number): Fate => {
    switch (how) {
      case 'everything':
        return 'there'
      case 'nothing':
        return 'away'
      case 'writes':
        return random.chance(chance) ? 'there' : 'away'
      case 'sectors':
        return 'torn'
      case 'inOrder':
        return index < end ? 'there' : index === end ? 'torn' : 'away'
    }
  }
  return new Map(writes.map((at, index) => [at, fateOf(index)]))
}

function pageAfterCut(page: Page, era: number, fates: Map<number, Fate>, cut: Cut, random: Random): Buffer {
  if (page.versions.length === 0) return page.durable
  const reached = page.versions.filter((version) => version.era <= era)
  // Truncations up to this era are there, so what they cut off is gone.
  const base = reached.findLastIndex(({ isTruncation }) => isTruncation)
  const result = Buffer.from(reached[base]?.bytes ?? page.durable)
  for (const { at, bytes, isFailed } of reached.slice(base + 1)) {
    const fate = isFailed ? (random.chance(cut.failedChance) ? 'there' : 'away') : fates.get(at)
    for (let start = 0; start < pageBytes && fate !== 'away'; start += sectorBytes) {
      if (fate === 'there' || random.chance(cut.chance)) bytes.copy(result, start, start, start + sectorBytes)
    }
  }
  return result
}
