// Counts plants, in all and by tag, if that is cheap; else estimates from the planner's statistics.

import type { StoreSize, Summary } from '../../domain/store.ts'
import type { StoreLimits } from '../engine.ts'
import { toTagCount } from '../rows.ts'
import { type Connection, named, type Row } from './connections/connection.ts'
import { tables, tagOfPlant } from './connections/tables.ts'

const statements = named({
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
  sizeOfTables: `SELECT (SELECT sum(pg_total_relation_size(name::regclass))::int8 FROM unnest($1::text[]) AS name),
    (SELECT bytes FROM changes_end)
      - (SELECT end_bytes FROM changes WHERE first IS NOT NULL ORDER BY first LIMIT 1)`,
})

/** Measures the number of plants, like `summarize`, and the size of the tables. */
export async function measure(connection: Connection, limits: StoreLimits): Promise<StoreSize> {
  const { plants } = await summarize(connection, { ...limits, summaryTagsMax: 0 })
  const [[bytes, changesBytes] = []] = await connection.query(statements.sizeOfTables, [Object.keys(tables)])
  return { plants, bytes: Number(bytes ?? 0), changesBytes: Number(changesBytes ?? 0) }
}

export async function summarize(
  connection: Connection,
  { summaryTagsMax, summaryPlantsCounted }: StoreLimits,
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
