// Lists of plants by ascending id, summaries, and pages of the log of changes. Every query uses an index, and every page
// has a bounded cost.

import type { DatabaseSync } from 'node:sqlite'
import type { ChangePage, ChangeQuery } from '../../domain/change.ts'
import { foldName, headOf, int64Max, int64Min, namesOf, type Plant } from '../../domain/plant.ts'
import type { PlantPage, PlantQuery, StoreSize, Summary } from '../../domain/store.ts'
import type { Limits } from '../../limits.ts'
import { changePageOf, emptyPageOf, toPosition } from '../change-log.ts'
import { commonStatements, endOfPrefix, pageOf, pageOfJson, toPlant, toTagCount } from '../rows.ts'
import { prepareAll, type Statements } from './file/database.ts'

/** Characters of plants that a search examines for one page, approximately. */
const scanCharactersMax = 2_000_000

/** Rows as a JSON array of plants. */
const arrayOfRows = `'[' || coalesce(group_concat(plant, ','), '') || ']'`
const ofTag = `plants INDEXED BY plants_by_tag WHERE plant ->> '$.tag' IS NOT NULL AND plant ->> '$.tag' =`

/**
 * The queries of lists. test/store/sqlite-pages.test.ts verifies that each uses its index.
 *
 * `byId` and `byTag` return a page as one row: its JSON, its last id, and whether plants follow. They find the
 * last id first, because SQLite reads a range of ids in two thirds of the time of a LIMIT.
 */
export const pageQueries = {
  byId: `WITH page (last) AS MATERIALIZED (
      SELECT coalesce((SELECT id FROM plants WHERE id >= ?1 ORDER BY id LIMIT 1 OFFSET ?2), ${int64Max}))
    SELECT CAST((SELECT ${arrayOfRows} FROM plants WHERE id BETWEEN ?1 AND last) AS BLOB),
      last, EXISTS (SELECT 1 FROM plants WHERE id > last)
    FROM page`,
  byTag: `WITH page (last) AS MATERIALIZED (SELECT coalesce(
      (SELECT id FROM ${ofTag} ?3 AND id >= ?1 ORDER BY id LIMIT 1 OFFSET ?2), ${int64Max}))
    SELECT CAST((SELECT ${arrayOfRows} FROM ${ofTag} ?3 AND id BETWEEN ?1 AND last) AS BLOB),
      last, EXISTS (SELECT 1 FROM ${ofTag} ?3 AND id > last)
    FROM page`,
  rowsById: 'SELECT id, plant FROM plants WHERE id >= ? ORDER BY id LIMIT ?',
  rowsByTag: `SELECT id, plant FROM ${ofTag} ? AND id >= ? ORDER BY id LIMIT ?`,
  countByName: 'SELECT count(*) AS plants FROM (SELECT 1 FROM names WHERE head >= ? AND head < ? LIMIT ?)',
  idsByName: 'SELECT id FROM names WHERE head >= ? AND head < ? AND id >= ? ORDER BY id LIMIT ?',
  /** The number of plants, and the bytes of all changes that are kept. */
  size: `SELECT coalesce((SELECT plants FROM plant_counts WHERE of = ''), 0),
    (SELECT end_bytes FROM changes ORDER BY first DESC LIMIT 1) - (SELECT end_bytes FROM changes ORDER BY first LIMIT 1)`,
  plantById: 'SELECT id, plant FROM plants WHERE id = ?',
  /** First the number of all plants, and whether all tags are counted; then the most common tags. */
  summary: `WITH uncounted (first) AS MATERIALIZED (
      SELECT (SELECT of FROM plant_counts WHERE of >= '#' ORDER BY of LIMIT 1 OFFSET ?1))
    SELECT NULL, coalesce((SELECT plants FROM plant_counts WHERE of = ''), 0), first IS NULL FROM uncounted
    UNION ALL SELECT * FROM (
      SELECT substr(of, 2), plants, NULL FROM plant_counts
      WHERE of >= '#' AND of < coalesce((SELECT first FROM uncounted), X'')
      ORDER BY plants DESC, of LIMIT (SELECT iif(first IS NULL, ?2, ?3) FROM uncounted))`,
} as const

const changeQueries = {
  newestChanges: commonStatements.newestChanges,
  changesFrom: `SELECT first, changes, at_ms, lines FROM changes
    WHERE first >= coalesce((SELECT first FROM changes WHERE first <= ? ORDER BY first DESC LIMIT 1), 1) ORDER BY first`,
} as const

/** A blob, which SQLite sorts after every text. */
const pastEveryText = Buffer.alloc(0)

export class Pages {
  readonly #limits: Limits
  readonly #reader: DatabaseSync
  readonly #statements: Statements<keyof typeof pageQueries | keyof typeof changeQueries>

  /** @param reader a connection that sees every committed change. */
  constructor(reader: DatabaseSync, limits: Limits) {
    this.#limits = limits
    this.#reader = reader
    this.#statements = prepareAll(reader, { ...pageQueries, ...changeQueries })
  }

  list({ after, tag, namePrefix, limit }: PlantQuery): PlantPage {
    if (after === int64Max) return pageOf('')
    const fromId = after === undefined ? int64Min : after + 1n
    if (namePrefix !== undefined && namePrefix !== '') {
      // In one transaction, so that plants found in the index still exist when they are read.
      this.#reader.exec('BEGIN')
      try {
        return this.#search(foldName(namePrefix), fromId, tag, limit)
      } finally {
        this.#reader.exec('COMMIT')
      }
    }
    const { byId, byTag } = this.#statements
    const others = BigInt(limit - 1)
    const row = tag === undefined ? byId.get(fromId, others) : byTag.get(fromId, others, tag)
    const [json, last, hasMore] = row as unknown as [Uint8Array<ArrayBuffer>, bigint, bigint]
    return hasMore === 1n ? pageOfJson(json, last) : pageOfJson(json)
  }

  /** Throws AppError `positionGone`. */
  listChanges(query: ChangeQuery): ChangePage {
    const { newestChanges, changesFrom } = this.#statements
    if (query.after === 'now') return emptyPageOf(newestChanges.get())
    const after = query.after === undefined ? undefined : toPosition(query.after)
    const rows = changesFrom.iterate(after?.number ?? null) as unknown as Iterable<unknown>
    return changePageOf(rows, after, query, this.#limits)
  }

  size(): Pick<StoreSize, 'plants' | 'changesBytes'> {
    const [plants, changesBytes] = this.#statements.size.get() as unknown as [bigint, bigint]
    return { plants: Number(plants), changesBytes: Number(changesBytes) }
  }

  /** Counts at most the first `tagsCounted` tags. If there are more, returns the most common `tagsOfMore` of them. */
  summary(tagsCounted: number, tagsOfMore = this.#limits.summaryTagsMax): Summary {
    const { summaryTagsMax } = this.#limits
    const rows = this.#statements.summary.all(BigInt(tagsCounted), BigInt(summaryTagsMax), BigInt(tagsOfMore))
    const [[, plants, isExact], ...tags] = rows as unknown as [[null, bigint, bigint], ...unknown[]]
    return { plants: Number(plants), tags: tags.map(toTagCount), isExact: isExact === 1n }
  }

  /** Reads a snapshot of all plants in a read transaction. Supports one such walk at a time. */
  *all(batchPlants: number): Generator<readonly Plant[], void> {
    this.#reader.exec('BEGIN')
    try {
      for (let from = int64Min; ; ) {
        const plants = this.#statements.rowsById.all(from, BigInt(batchPlants)).map(toPlant)
        yield plants
        const last = plants.at(-1)?.id ?? int64Max
        if (plants.length < batchPlants || last === int64Max) return
        from = last + 1n
      }
    } finally {
      this.#reader.exec('COMMIT')
    }
  }

  /**
   * The index of names has another order than the page. A few matches are read from the index and sorted. If there are
   * many, a scan of a range of ids finds enough of them.
   */
  #search(prefix: string, from: bigint, tag: string | undefined, limit: number): PlantPage {
    const head = headOf(prefix)
    const range = [head, endOfPrefix(head) ?? pastEveryText] as const
    const scanMax = BigInt(this.#limits.pageScanPlantsMax)
    const max = scanMax + 1n
    const { countByName, rowsById, rowsByTag } = this.#statements
    const [matches] = countByName.get(...range, max) as unknown as [bigint]
    const scan = () => (tag === undefined ? rowsById.iterate(from, max) : rowsByTag.iterate(tag, from, max))
    const isFound = matches <= scanMax && prefix === head
    const isWanted = (json: string): boolean => {
      if (isFound && tag === undefined) return true
      const names = namesOf(json)
      return (tag === undefined || names.tag === tag) && (isFound || foldName(names.name).startsWith(prefix))
    }
    return this.#pageOf(matches > scanMax ? scan() : this.#byName(range, from, max), isWanted, limit)
  }

  *#byName([head, end]: readonly [string, string | Buffer], from: bigint, max: bigint): Generator<unknown> {
    const { idsByName, plantById } = this.#statements
    const ids = idsByName.all(head, end, from, max) as unknown as readonly [bigint][]
    for (const [id] of ids) yield plantById.get(id)
  }

  /** Ends a page when it is full, or when a limit is reached; it is then short, but has a next page. */
  #pageOf(candidates: Iterable<unknown>, isWanted: (json: string) => boolean, limit: number): PlantPage {
    const { pageScanPlantsMax } = this.#limits
    const plants: string[] = []
    let [seen, characters, last] = [0, 0, 0n]
    for (const candidate of candidates) {
      const { id, json } = toPlant(candidate)
      if (plants.length === limit || seen === pageScanPlantsMax || characters >= scanCharactersMax) {
        return pageOf(plants.join(), last)
      }
      seen += 1
      last = id
      characters += json.length
      if (isWanted(json)) plants.push(json)
    }
    return pageOf(plants.join())
  }
}
