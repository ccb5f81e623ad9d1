// All rows by subject, in the order in which they are reported.

import type { Level } from './results.ts'
import type { Circumstances, PlacedRow, Row } from './row.ts'
import { bodyRows } from './rows/bodies.ts'
import { changeRows } from './rows/changes.ts'
import { corsRows } from './rows/cors.ts'
import { credentialRows } from './rows/credentials.ts'
import { conditionRows, etagRows } from './rows/etags.ts'
import { keyRows } from './rows/idempotency.ts'
import { int64Rows } from './rows/int64.ts'
import { listRows, longRows } from './rows/lists.ts'
import { limitRows, methodRows } from './rows/methods.ts'
import { pageRows } from './rows/pages.ts'
import { parameterRows } from './rows/parameters.ts'
import { plantRows } from './rows/plants.ts'
import { specifiedRows } from './rows/specified.ts'
import { summaryRows } from './rows/summary.ts'
import { furtherRows, textRows } from './rows/texts.ts'
import { unreadRows } from './rows/unread.ts'

/** Rows, or a function that makes them of the server's document. */
export type Rows = readonly Row[] | ((run: Circumstances) => readonly Row[])

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
  ['lists', listRows, longRows],
  ['changes', changeRows],
  ['summary', summaryRows],
  ['CORS', corsRows],
  ['answers', ({ answers }) => answers],
]

/** Returns the rows of a level; `complete` includes those of `specified`. */
export function placeAll(run: Circumstances, level: Level): readonly PlacedRow[] {
  return subjects.flatMap(([subject, ...each]) => each.flatMap((rows) => place(subject, rows, run, level)))
}

/** Gives rows their ids. */
export function place(
  subject: string,
  rows: Rows,
  run: Circumstances,
  level: Level = 'complete',
): readonly PlacedRow[] {
  const all = typeof rows === 'function' ? rows(run) : rows
  return all
    .filter((row) => level === 'complete' || row.level === level)
    .map(({ unless, ...row }) => ({ ...row, subject, ids: row.ids(run.ids), skipped: unless?.(run) || undefined }))
}
