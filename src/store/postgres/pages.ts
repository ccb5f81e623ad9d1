// Lists of plants by ascending id, pages of the log of changes, and counts of plants in total and by tag, which for a
// large store are estimates from the planner's statistics. Every list uses an index, and every page has a bounded cost.
//
// Rows enter the log of changes without numbers, in the transactions of the changes, so that no transaction waits for
// another. The first reader of the log numbers the rows that have been committed since: in the order of their places,
// which for one plant is the order of its changes. A row of a transaction that is still open, however long, is numbered
// after its commit, after the others.

import type { ChangePage, ChangeQuery } from '../../domain/change.ts'
import { foldName, headOf, int64Max, int64Min } from '../../domain/plant.ts'
import type { PlantPage, PlantQuery, StoreSize, Summary } from '../../domain/store.ts'
import type { Limits } from '../../limits.ts'
import { changePageOf, charactersMaxOf, emptyPageOf, toPosition } from '../change-log.ts'
import { commonStatements, endOfPrefix, pageOf, toTagCount } from '../rows.ts'
import { type Connection, named, type Row } from './connections/connection.ts'
import { refusalOf } from './connections/failures.ts'
import { tables, tagOfPlant } from './connections/tables.ts'

/** Characters of a folded name in its index; see tables.ts. */
const indexedCharacters = 250
/** Greater than every prefix in the index of names. */
const pastEveryPrefix = '\u{10ffff}'.repeat(indexedCharacters + 1)

/** Statements that may wait for the confirmation of a standby. */
const pendingMax = 20
/** Rows that a page searches for changes of one kind. */
const rowsOfSearch = 1_000
/** Rows that are numbered in one transaction. */
const rowsOfTransaction = 1_000

const ofTag = `plants WHERE ${tagOfPlant} IS NOT NULL AND (${tagOfPlant}, id) >= ($1, $2) AND (${tagOfPlant}, id) <= ($1, ${int64Max})`
const orderByTag = `${tagOfPlant}, id`
const ofName = `named
      WHERE name_folded >= $4 AND ($5::text IS NULL OR name_folded < $5) AND id >= $6 AND ($7::text IS NULL OR ${tagOfPlant} = $7)`

/**
 * The queries of lists. test/store/postgres-pages.test.ts verifies that each uses its index. The queries leave the
 * planner no worse choice: only the index of tags supports a range of pairs, and MATERIALIZED prevents inlining.
 */
export const pageQueries = {
  byId: rendered('plants WHERE id >= $1', 'id', '$2'),
  byTag: rendered(ofTag, orderByTag, '$3'),
  rowsById: selectRows('plants WHERE id >= $1', 'id', '$2'),
  byName: `WITH named AS MATERIALIZED (
      SELECT id, plant, name_folded FROM plants
      WHERE left(name_folded, ${indexedCharacters}) >= $1 AND left(name_folded, ${indexedCharacters}) < $2 LIMIT $3)
    SELECT page.*, (SELECT count(*) FROM named) FROM (${rendered(ofName, 'id', '$8')}) AS page`,
  scan: scanned('plants WHERE id >= $1', 'id', 2),
  scanByTag: scanned(ofTag, orderByTag, 3),
} as const

const statements = named({
  ...pageQueries,
  /** The row without a tag counts all plants examined. */
  countSome: `WITH seen AS MATERIALIZED (SELECT ${tagOfPlant} AS tag FROM plants LIMIT $1)
    SELECT NULL, count(*) FROM seen UNION ALL (
      SELECT tag, count(*) FROM seen WHERE tag IS NOT NULL GROUP BY tag ORDER BY count(*) DESC, tag LIMIT $2)`,
  /** The same for all plants, from the statistics that autovacuum maintains. */
  estimateAll: `WITH by_tag AS (SELECT relname, relnamespace, reltuples FROM pg_class WHERE oid = 'plants_by_tag'::regclass)
    SELECT NULL, reltuples::int8 FROM pg_class WHERE oid = 'plants'::regclass UNION ALL (
      SELECT common.tag, (reltuples * common.share)::int8
        FROM by_tag JOIN pg_stats
          ON schemaname = relnamespace::regnamespace::text AND tablename = relname AND attname <> 'id',
          unnest(most_common_vals::text::text[], most_common_freqs) AS common (tag, share)
        ORDER BY common.share DESC, common.tag COLLATE "C" LIMIT $1)`,
  findUnnumbered: 'SELECT 1 FROM changes WHERE first IS NULL AND changes > 0 LIMIT 1',
  /** Servers number rows one after another. After this lock, a statement sees the numbers of the previous server. */
  lockEnd: 'SELECT next FROM changes_end WHERE one = 1 FOR UPDATE',
  numberRows: `WITH new AS (
      SELECT id, sum(changes) OVER (ORDER BY place) - changes AS before, sum(bytes) OVER (ORDER BY place) AS bytes
      FROM (SELECT id, place, changes, octet_length(lines) AS bytes
        FROM changes WHERE first IS NULL AND changes > 0 ORDER BY place LIMIT $1) AS oldest),
    numbered AS (
      UPDATE changes
      SET first = (changes_end.next + new.before)::int8, end_bytes = (changes_end.bytes + new.bytes)::int8
      FROM new, changes_end WHERE changes.id = new.id
      RETURNING changes.changes, octet_length(changes.lines) AS bytes)
    UPDATE changes_end SET next = next + (SELECT coalesce(sum(changes), 0) FROM numbered)::int8,
      bytes = bytes + (SELECT coalesce(sum(numbered.bytes), 0) FROM numbered)::int8
    RETURNING (SELECT count(*) FROM numbered)`,
  newestChanges: commonStatements.newestChanges,
  /** Reads at most $2 rows, and no more after $3 bytes. The last column: whether a row is the last of the log. */
  changesFrom: `SELECT first, changes, at_ms, lines, is_last FROM (
      SELECT *, sum(octet_length(lines)) OVER (ORDER BY first) - octet_length(lines) AS before,
        first + changes = (SELECT next FROM changes_end) AS is_last
      FROM (SELECT first, changes, at_ms, lines FROM changes
        WHERE first >= coalesce((SELECT first FROM changes WHERE first <= $1 ORDER BY first DESC LIMIT 1), 1)
        ORDER BY first LIMIT $2) AS rows) AS counted
    WHERE before < $3 ORDER BY first`,
  sizeOfTables: `SELECT (SELECT sum(pg_total_relation_size(name::regclass))::int8 FROM unnest($1::text[]) AS name),
    (SELECT bytes FROM changes_end)
      - (SELECT end_bytes FROM changes WHERE first IS NOT NULL ORDER BY first LIMIT 1)`,
})

/**
 * A page as one row: its plants in JSON, its last id, and whether there are more. Building an object per row in
 * JavaScript takes four times as long. An aggregate directly above a subquery keeps the order of its rows.
 *
 * @param source tables and conditions.
 * @param order the order of the rows, in which ids ascend.
 * @param limit the parameter for the number of plants in a page.
 */
function rendered(source: string, order: string, limit: string): string {
  // With EXISTS, the planner would scan the table.
  const next = `SELECT id FROM ${source} AND id > last ORDER BY ${order} LIMIT 1`
  return `SELECT plants, last, found = ${limit} AND (${next}) IS NOT NULL FROM (
      SELECT string_agg(plant, ',') AS plants, max(id) AS last, count(*) AS found
      FROM (${selectRows(source, order, limit)}) AS plant) AS page`
}

/**
 * A page of the plants of a stretch whose names have a prefix; then the number of plants in the stretch, and its last id.
 *
 * @param first the number of the parameter for the length of the stretch; those for the names and the page follow.
 */
function scanned(source: string, order: string, first: number): string {
  const ofName = `name_folded >= $${first + 1} AND ($${first + 2}::text IS NULL OR name_folded < $${first + 2})`
  return `WITH stretch AS MATERIALIZED (SELECT id, plant, name_folded FROM ${source} ORDER BY ${order} LIMIT $${first})
    SELECT page.*, (SELECT count(*) FROM stretch), (SELECT max(id) FROM stretch)
    FROM (${rendered(`stretch WHERE ${ofName}`, 'id', `$${first + 3}`)}) AS page`
}

function selectRows(source: string, order: string, limit: string): string {
  return `SELECT id, plant::text FROM ${source} ORDER BY ${order} LIMIT ${limit}`
}

function toPage([row]: readonly Row[]): PlantPage {
  const [plants, last, hasMore] = row as unknown as [string | null, bigint | null, boolean]
  return pageOf(plants ?? '', hasMore && last !== null ? last : undefined)
}

const commonMax = 256
/** Searches for a common prefix, on average, until the index is tried again. */
const searchesPerTry = 32

/**
 * The index of names has another order than a page. A few matches are read from the index and sorted. If there are many,
 * a scan of a range of ids finds enough of them.
 *
 * @param scanMax the number of plants that a search examines.
 * @param common prefixes of the names of more plants than that. To find them takes most of the time of a search. If a
 * prefix is no longer common, the pages are still correct, but may be short.
 */
export async function listPage(
  connection: Connection,
  { after, tag, namePrefix = '', limit }: PlantQuery,
  scanMax: number,
  common: Set<string>,
): Promise<PlantPage> {
  if (after === int64Max) return pageOf('')
  const from = after === undefined ? int64Min : after + 1n
  const query = (name: keyof typeof pageQueries, ...values: unknown[]) => connection.query(statements[name], values)
  if (namePrefix === '') {
    return toPage(await (tag === undefined ? query('byId', from, limit) : query('byTag', tag, from, limit)))
  }
  const prefix = foldName(namePrefix)
  const end = endOfPrefix(prefix) ?? null
  const indexedPrefix = headOf(prefix)
  const indexed = [indexedPrefix, endOfPrefix(indexedPrefix) ?? pastEveryPrefix, scanMax + 1]
  if (!common.has(indexedPrefix) || Math.random() * searchesPerTry < 1) {
    const rows = await query('byName', ...indexed, prefix, end, from, tag ?? null, limit)
    common.delete(indexedPrefix)
    if (Number(rows[0]?.[3]) <= scanMax) return toPage(rows)
    if (common.size >= commonMax) common.clear()
    common.add(indexedPrefix)
  }
  const rows = await (tag === undefined
    ? query('scan', from, scanMax, prefix, end, limit)
    : query('scanByTag', tag, from, scanMax, prefix, end, limit))
  const page = toPage(rows)
  const [, , , scanned, last] = rows[0] as unknown as [unknown, unknown, unknown, bigint, bigint]
  return page.nextAfter === undefined && scanned === BigInt(scanMax) ? { ...page, nextAfter: last } : page
}

/**
 * Numbers all rows that are committed before the call. Waits for standbys as every change does: a number that a reader
 * has seen survives a failover.
 */
export async function numberChanges(connection: Connection): Promise<void> {
  if (connection.pending > pendingMax) throw refusalOf('busy', new Error('numbers of changes wait for a standby'))
  const found = await connection.query(statements.findUnnumbered)
  for (let isDone = found.length === 0; !isDone; ) {
    const [, , [row]] = await connection.sendTogether(() => [
      connection.begin(),
      connection.query(statements.lockEnd),
      connection.query(statements.numberRows, [rowsOfTransaction]),
      connection.commit(),
    ])
    isDone = Number(row?.[0]) < rowsOfTransaction
  }
}

/** Throws AppError `positionGone`. Rows without numbers are not in the page. */
export async function listChanges(reader: Connection, query: ChangeQuery, limits: Limits): Promise<ChangePage> {
  if (query.after === 'now') return emptyPageOf((await reader.query(statements.newestChanges))[0])
  const after = query.after === undefined ? undefined : toPosition(query.after)
  // Each row has at least one change. The first may have none after the position.
  const rowsMax = query.kind === undefined ? query.limit + 1 : rowsOfSearch
  const values = [after?.number ?? null, rowsMax, charactersMaxOf(query, limits)]
  const rows = await reader.query(statements.changesFrom, values)
  const page = changePageOf(rows, after, query, limits)
  return { ...page, isLast: page.isLast && rows.at(-1)?.[4] === true }
}

/** Measures the number of plants, like `summarize`, and the size of the tables. */
export async function measure(connection: Connection, limits: Limits): Promise<StoreSize> {
  const { plants } = await summarize(connection, { ...limits, summaryTagsMax: 0 })
  const [[bytes, changesBytes] = []] = await connection.query(statements.sizeOfTables, [Object.keys(tables)])
  return { plants, bytes: Number(bytes ?? 0), changesBytes: Number(changesBytes ?? 0) }
}

export async function summarize(
  connection: Connection,
  { summaryTagsMax, summaryPlantsCounted }: Limits,
): Promise<Summary> {
  const seen = toCounts(await connection.query(statements.countSome, [summaryPlantsCounted + 1, summaryTagsMax]))
  if (seen.plants <= summaryPlantsCounted) return { ...seen, isExact: true }
  const estimated = toCounts(await connection.query(statements.estimateAll, [summaryTagsMax]))
  // Statistics may be missing or outdated.
  const plants = Math.max(estimated.plants, seen.plants)
  const scaled = seen.tags.map(({ tag, plants: some }) => ({ tag, plants: Math.round((some * plants) / seen.plants) }))
  return { plants, tags: estimated.tags.length > 0 ? estimated.tags : scaled, isExact: false }
}

function toCounts(rows: readonly Row[]): Pick<Summary, 'plants' | 'tags'> {
  const [[, plants = 0n] = []] = rows.filter(([tag]) => tag === null) as [[null?, bigint?]?]
  return { plants: Number(plants), tags: rows.filter(([tag]) => tag !== null).map(toTagCount) }
}
