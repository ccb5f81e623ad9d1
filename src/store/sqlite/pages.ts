// Lists of plants, in the order of their ids: every query by an index, every page at a bounded cost.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { foldName, int64Max, int64Min, type NewPlant } from '../../domain/plant.ts'
import type { PlantPage, PlantQuery } from '../../domain/store.ts'
import { endOfPrefix } from '../prefix.ts'
import { toPage } from '../rows.ts'

interface PagesLimits {
  readonly pageScanPlantsMax: number
}

/** The queries of lists. test/store/sqlite-pages.test.ts holds each to its index. */
export const pageQueries = {
  byId: 'SELECT id, name, tag FROM plants WHERE id >= ? ORDER BY id LIMIT ?',
  byTag: 'SELECT id, name, tag FROM plants INDEXED BY plants_by_tag WHERE tag = ? AND id >= ? ORDER BY id LIMIT ?',
  countByName: `SELECT count(*) AS plants FROM (
    SELECT 1 FROM plants INDEXED BY plants_by_name WHERE name_folded >= ? AND name_folded < ? LIMIT ?)`,
  byName: `SELECT id, name, tag FROM plants INDEXED BY plants_by_name
    WHERE name_folded >= ? AND name_folded < ? AND id >= ? AND (?4 IS NULL OR tag = ?4) ORDER BY id LIMIT ?`,
  boundary: 'SELECT id FROM plants WHERE id >= ? ORDER BY id LIMIT 1 OFFSET ?',
  boundaryByTag: `SELECT id FROM plants INDEXED BY plants_by_tag WHERE tag = ? AND id >= ? ORDER BY id LIMIT 1 OFFSET ?`,
  scan: `SELECT id, name, tag FROM plants WHERE id BETWEEN ? AND ? AND name_folded >= ? AND name_folded < ?
    ORDER BY id LIMIT ?`,
  scanByTag: `SELECT id, name, tag FROM plants INDEXED BY plants_by_tag
    WHERE tag = ? AND id BETWEEN ? AND ? AND name_folded >= ? AND name_folded < ? ORDER BY id LIMIT ?`,
} as const

/** Greater than every text in the order of SQLite. */
const pastEveryText = Buffer.alloc(0)

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

  /**
   * The index of names has another order than the page. A few matches are taken from it and sorted; of many, enough
   * stand close together in the order of ids to be found by looking through a stretch of it.
   */
  #listByName(prefix: string, from: bigint, tag: string | undefined, limit: number): PlantPage {
    const { countByName, byName } = this.#statements
    const end = endOfPrefix(prefix) ?? pastEveryText
    const scanMax = BigInt(this.#limits.pageScanPlantsMax)
    const [matches] = countByName.get(prefix, end, scanMax + 1n) as unknown as [bigint]
    if (matches > scanMax) return this.#scanByName(prefix, end, from, tag, limit)
    return toPage(byName.all(prefix, end, from, tag ?? null, BigInt(limit + 1)), limit)
  }

  #scanByName(prefix: string, end: string | Buffer, from: bigint, tag: string | undefined, limit: number): PlantPage {
    const { boundary, boundaryByTag, scan, scanByTag } = this.#statements
    const scanMax = BigInt(this.#limits.pageScanPlantsMax)
    const first = tag === undefined ? boundary.get(from, scanMax) : boundaryByTag.get(tag, from, scanMax)
    const last = first === undefined ? int64Max : (first as unknown as [bigint])[0] - 1n
    const bounds = [from, last, prefix, end, BigInt(limit + 1)] as const
    const page = toPage(tag === undefined ? scan.all(...bounds) : scanByTag.all(tag, ...bounds), limit)
    return page.nextAfter === undefined && first !== undefined ? { ...page, nextAfter: last } : page
  }
}
