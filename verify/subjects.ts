// All rows by subject, in the order in which they are reported.

import type { Level, RowName } from './results.ts'
import type { Circumstances, PlacedRow, Row } from './row.ts'
import { bodyRows, furtherRows, int64Rows, textRows } from './rows/bodies.ts'
import { changeRows } from './rows/changes.ts'
import { corsRows } from './rows/cors.ts'
import { credentialRows } from './rows/credentials.ts'
import { keyRows } from './rows/idempotency.ts'
import { listRows, summaryRows } from './rows/lists.ts'
import { parameterRows } from './rows/parameters.ts'
import { limitRows, methodRows, pageRows } from './rows/paths.ts'
import { conditionRows, etagRows, plantRows, unreadRows } from './rows/plants.ts'
import { randomRows } from './rows/random.ts'
import { specifiedRows } from './rows/specified.ts'

/** Rows, or a function that makes them of the server's document. */
type Rows = readonly Row[] | ((run: Circumstances) => readonly Row[])

const subjects: readonly (readonly [name: string, ...rows: readonly Rows[]])[] = [
  ['the document itself', specifiedRows],
  ['int64', int64Rows],
  ['names and tags', textRows],
  ['further properties', furtherRows],
  ['bodies', bodyRows],
  ['limits of HTTP', limitRows],
  ['credentials', credentialRows],
  ['parameters', parameterRows],
  ['paths and methods', methodRows],
  ['pages', pageRows],
  ['Idempotency-Key', keyRows],
  ['plants and ETags', plantRows, conditionRows, etagRows, unreadRows],
  ['lists', listRows],
  ['changes', changeRows],
  ['summary', summaryRows],
  ['random requests', randomRows],
  ['CORS', corsRows],
]

/**
 * Returns the rows of a level, with their ids; `complete` includes those of `specified`.
 *
 * @param answers rows that judge the answers of all others.
 */
export function placeAll(
  run: Circumstances,
  wanted: Level,
  answers: readonly Row[] = [],
  only: (row: RowName) => boolean = () => true,
): readonly PlacedRow[] {
  return [...subjects, ['answers', answers] as const].flatMap(([subject, ...each]) => {
    const rows = each.flatMap((rows) => (typeof rows === 'function' ? rows(run) : rows))
    return rows.flatMap((row) => {
      const { title, level = 'complete', ids = (range) => range.take(row.run.length - 1) } = row
      if (wanted !== 'complete' && level !== wanted) return []
      // A row has the same ids whatever else runs.
      const own = ids(run.ids)
      if (!only({ subject, title })) return []
      const document = row.document ?? run.plants.quote(row.place ?? '')
      return { ...row, subject, level, document, ids: own }
    })
  })
}
