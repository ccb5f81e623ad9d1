// Lists of plants, in the order of their ids: every query by an index, every page at a bounded cost.

import { foldName, headOf, int64Max, int64Min } from '../../domain/plant.ts'
import type { PlantPage, PlantQuery } from '../../domain/store.ts'
import { endOfPrefix } from '../prefix.ts'
import { toPage } from '../rows.ts'
import type { Connection, Row, Statement } from './connection.ts'

/** Characters of a folded name that its index has; see migrations.ts. */
const indexedCharacters = 250
/** Greater than every prefix of a name that the index has. */
const pastEveryPrefix = '\u{10ffff}'.repeat(indexedCharacters + 1)

/**
 * The queries of lists. test/store/postgres-pages.test.ts holds each to its index. The planner is left no choice that
 * would be worse: a range of pairs is only in the index of tags, and what is MATERIALIZED is fetched as it stands.
 */
export const pageQueries = {
  byId: 'SELECT id, name, tag FROM plants WHERE id >= $1 ORDER BY id LIMIT $2',
  byTag: `SELECT id, name, tag FROM plants
    WHERE tag IS NOT NULL AND (tag, id) >= ($1, $2) AND (tag, id) <= ($1, ${int64Max}) ORDER BY tag, id LIMIT $3`,
  byName: `WITH named AS MATERIALIZED (
      SELECT id, name, tag, name_folded FROM plants
      WHERE left(name_folded, ${indexedCharacters}) >= $1 AND left(name_folded, ${indexedCharacters}) < $2 LIMIT $3)
    SELECT found.id, found.name, found.tag, counted.plants
      FROM (SELECT count(*) AS plants FROM named) AS counted LEFT JOIN (
        SELECT id, name, tag FROM named
        WHERE name_folded >= $4 AND ($5::text IS NULL OR name_folded < $5) AND id >= $6 AND ($7::text IS NULL OR tag = $7)
        ORDER BY id LIMIT $8) AS found ON true
      ORDER BY found.id`,
  countByName: `SELECT count(*) FROM (SELECT 1 FROM plants
      WHERE left(name_folded, ${indexedCharacters}) >= $1 AND left(name_folded, ${indexedCharacters}) < $2 LIMIT $3) AS named`,
  boundary: 'SELECT id FROM plants WHERE id >= $1 ORDER BY id LIMIT 1 OFFSET $2',
  boundaryByTag: `SELECT id FROM plants
    WHERE tag IS NOT NULL AND (tag, id) >= ($1, $2) AND (tag, id) <= ($1, ${int64Max}) ORDER BY tag, id LIMIT 1 OFFSET $3`,
  scan: `WITH stretch AS MATERIALIZED (SELECT id, name, tag, name_folded FROM plants WHERE id BETWEEN $1 AND $2)
    SELECT id, name, tag FROM stretch
      WHERE name_folded >= $3 AND ($4::text IS NULL OR name_folded < $4) ORDER BY id LIMIT $5`,
  scanByTag: `WITH stretch AS MATERIALIZED (SELECT id, name, tag, name_folded FROM plants
      WHERE tag IS NOT NULL AND (tag, id) >= ($1, $2) AND (tag, id) <= ($1, $3))
    SELECT id, name, tag FROM stretch
      WHERE name_folded >= $4 AND ($5::text IS NULL OR name_folded < $5) ORDER BY id LIMIT $6`,
} as const

type Query = (name: keyof typeof pageQueries, ...values: unknown[]) => Promise<readonly Row[]>

/** One page, by as few queries as it takes. */
export function listPage(
  connection: Connection,
  { after, tag, namePrefix, limit }: PlantQuery,
  scanMax: number,
): Promise<PlantPage> {
  if (after === int64Max) return Promise.resolve({ plants: [] })
  const from = after === undefined ? int64Min : after + 1n
  const query: Query = (name, ...values) => connection.query(statements[name], values)
  if (namePrefix !== undefined && namePrefix !== '') {
    return listByName(query, foldName(namePrefix), from, tag, limit, scanMax)
  }
  const rows = tag === undefined ? query('byId', from, limit + 1) : query('byTag', tag, from, limit + 1)
  return rows.then((found) => toPage(found, limit))
}

const statements = Object.fromEntries(
  Object.entries(pageQueries).map(([name, text]) => [name, { name, text }]),
) as Readonly<Record<keyof typeof pageQueries, Statement>>

/**
 * The index of names has another order than the page. A few matches are taken from it and sorted; of many, enough stand
 * close together in the order of ids to be found by looking through a stretch of it.
 */
async function listByName(
  query: Query,
  prefix: string,
  from: bigint,
  tag: string | undefined,
  limit: number,
  scanMax: number,
): Promise<PlantPage> {
  const end = endOfPrefix(prefix) ?? null
  const indexedPrefix = headOf(prefix)
  const indexed = [indexedPrefix, endOfPrefix(indexedPrefix) ?? pastEveryPrefix, scanMax + 1]
  const [count] = await query('countByName', ...indexed)
  if (Number(count?.[0]) <= scanMax) {
    const rows = await query('byName', ...indexed, prefix, end, from, tag ?? null, limit + 1)
    // Others may have been created since they were counted.
    if (Number(rows[0]?.[3]) <= scanMax) return toPage(rows[0]?.[0] === null ? [] : rows, limit)
  }
  const [first] = await (tag === undefined
    ? query('boundary', from, scanMax)
    : query('boundaryByTag', tag, from, scanMax))
  const last = first === undefined ? int64Max : (first[0] as bigint) - 1n
  const rows = await (tag === undefined
    ? query('scan', from, last, prefix, end, limit + 1)
    : query('scanByTag', tag, from, last, prefix, end, limit + 1))
  const page = toPage(rows, limit)
  return page.nextAfter === undefined && first !== undefined ? { ...page, nextAfter: last } : page
}
