// Lists of plants, in the order of their ids: every query by an index, every page at a bounded cost.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { foldName, headOf, int64Max, int64Min, type NewPlant, plantOf } from '../../domain/plant.ts'
import type { PlantPage, PlantQuery, Summary } from '../../domain/store.ts'
import { endOfPrefix } from '../prefix.ts'
import { toPage, toTagCount } from '../rows.ts'

export interface PagesLimits {
  readonly pageScanPlantsMax: number
  readonly pageScanCharactersMax: number
  readonly summaryTagsMax: number
  readonly summaryTagsCounted: number
}

/** The queries of lists. test/store/sqlite-pages.test.ts holds each to its index. */
export const pageQueries = {
  byId: 'SELECT id, name, tag FROM plants WHERE id >= ? ORDER BY id LIMIT ?',
  byTag: 'SELECT id, name, tag FROM plants INDEXED BY plants_by_tag WHERE tag = ? AND id >= ? ORDER BY id LIMIT ?',
  countByName: `SELECT count(*) AS plants FROM (
    SELECT 1 FROM plants INDEXED BY plants_by_name WHERE name_head >= ? AND name_head < ? LIMIT ?)`,
  idsByName: `SELECT id FROM plants INDEXED BY plants_by_name
    WHERE name_head >= ? AND name_head < ? AND id >= ? ORDER BY id LIMIT ?`,
  plantCount: "SELECT plants FROM plant_counts WHERE of = ''",
  plantById: 'SELECT id, name, tag FROM plants WHERE id = ?',
  scan: `SELECT id, iif(name_head >= ? AND name_head < ?, name, NULL), tag FROM plants WHERE id >= ? ORDER BY id LIMIT ?`,
  scanByTag: `SELECT id, iif(name_head >= ? AND name_head < ?, name, NULL), tag FROM plants INDEXED BY plants_by_tag
    WHERE tag = ? AND id >= ? ORDER BY id LIMIT ?`,
  tagCounts: "SELECT substr(of, 2), plants FROM plant_counts WHERE of >= '#' ORDER BY of LIMIT ?",
} as const

/** Greater than every text in the order of SQLite. */
const pastEveryText = Buffer.alloc(0)

/** A plant that is looked at; its name is null when it is known to begin otherwise. */
type Candidate = readonly [id: bigint, name: string | null, tag: string | null]

export class Pages {
  readonly #limits: PagesLimits
  readonly #reader: DatabaseSync
  readonly #statements: Readonly<Record<keyof typeof pageQueries, StatementSync>>

  /** @param reader a connection that sees every committed change. */
  constructor(reader: DatabaseSync, limits: PagesLimits) {
    this.#limits = limits
    this.#reader = reader
    this.#statements = Object.fromEntries(
      Object.entries(pageQueries).map(([name, sql]) => {
        const statement = reader.prepare(sql)
        statement.setReadBigInts(true)
        // Rows as arrays take half the time of rows as objects.
        statement.setReturnArrays(true)
        return [name, statement]
      }),
    ) as Record<keyof typeof pageQueries, StatementSync>
  }

  list({ after, tag, namePrefix, limit }: PlantQuery): PlantPage {
    if (after === int64Max) return { plants: [] }
    const from = after === undefined ? int64Min : after + 1n
    if (namePrefix !== undefined && namePrefix !== '') return this.#listByName(foldName(namePrefix), from, tag, limit)
    const { byId, byTag } = this.#statements
    const wanted = BigInt(limit + 1)
    return toPage(tag === undefined ? byId.all(from, wanted) : byTag.all(tag, from, wanted), limit)
  }

  summary(): Summary {
    const { plantCount, tagCounts } = this.#statements
    const { summaryTagsCounted, summaryTagsMax } = this.#limits
    const [plants = 0n] = (plantCount.get() ?? []) as unknown as [bigint?]
    const counted = (tagCounts.all(BigInt(summaryTagsCounted + 1)) as unknown as [string, bigint][]).map(toTagCount)
    const tags = counted.slice(0, summaryTagsCounted).sort((a, b) => b.plants - a.plants)
    const isExact = counted.length <= summaryTagsCounted
    return { plants: Number(plants), tags: tags.slice(0, summaryTagsMax), isExact }
  }

  /**
   * The plants of a tag, or all, as they are at one moment, which a read transaction holds; one such walk at a time.
   */
  *all(batchPlants: number, tag?: string): Generator<readonly NewPlant[], void> {
    this.#reader.exec('BEGIN')
    try {
      for (let after: bigint | undefined; ; ) {
        const { plants, nextAfter } = this.list({ after, tag, limit: batchPlants })
        yield plants
        if (nextAfter === undefined) return
        after = nextAfter
      }
    } finally {
      this.#reader.exec('COMMIT')
    }
  }

  /** In one transaction, so that what the index has is there when it is looked at. */
  #listByName(prefix: string, from: bigint, tag: string | undefined, limit: number): PlantPage {
    this.#reader.exec('BEGIN')
    try {
      return this.#search(prefix, from, tag, limit)
    } finally {
      this.#reader.exec('COMMIT')
    }
  }

  /**
   * The index of names has another order than the page. A few matches are taken from it and sorted; of many, enough
   * stand close together in the order of ids to be found by looking through a stretch of it.
   */
  #search(prefix: string, from: bigint, tag: string | undefined, limit: number): PlantPage {
    const head = headOf(prefix)
    const range = [head, endOfPrefix(head) ?? pastEveryText] as const
    const scanMax = BigInt(this.#limits.pageScanPlantsMax)
    const [matches] = this.#statements.countByName.get(...range, scanMax + 1n) as unknown as [bigint]
    const candidates =
      matches > scanMax ? this.#scan(range, from, tag, scanMax + 1n) : this.#byName(range, from, tag, scanMax + 1n)
    return this.#pageOf(candidates, prefix, head, limit)
  }

  *#byName(
    [head, end]: readonly [string, string | Buffer],
    from: bigint,
    tag: string | undefined,
    max: bigint,
  ): Generator<Candidate> {
    const { idsByName, plantById } = this.#statements
    for (const [id] of idsByName.all(head, end, from, max) as unknown as readonly [bigint][]) {
      const [, name, found] = plantById.get(id) as unknown as Candidate
      yield [id, tag === undefined || tag === found ? name : null, found]
    }
  }

  #scan(
    range: readonly [string, string | Buffer],
    from: bigint,
    tag: string | undefined,
    max: bigint,
  ): Iterable<Candidate> {
    const { scan, scanByTag } = this.#statements
    const rows = tag === undefined ? scan.iterate(...range, from, max) : scanByTag.iterate(...range, tag, from, max)
    return rows as unknown as Iterable<Candidate>
  }

  /** Ends where it is full, or where enough was looked at: it may be short then, and still have a next one. */
  #pageOf(candidates: Iterable<Candidate>, prefix: string, head: string, limit: number): PlantPage {
    const { pageScanPlantsMax, pageScanCharactersMax } = this.#limits
    const plants: NewPlant[] = []
    let [seen, characters, last] = [0, 0, 0n]
    for (const [id, name, tag] of candidates) {
      if (plants.length === limit || seen === pageScanPlantsMax || characters >= pageScanCharactersMax) {
        return { plants, nextAfter: last }
      }
      seen += 1
      last = id
      if (name === null) continue
      // What the index has of a name may not be all that is asked for.
      const folded = prefix === head ? prefix : foldName(name)
      characters += name.length + folded.length
      if (folded.startsWith(prefix)) plants.push({ id, ...plantOf({ name, tag }) })
    }
    return { plants }
  }
}
