// All rows by subject, in the order in which they are reported.

import type { Level } from './results.ts'
import type { Circumstances, Row } from './row.ts'
import { bodyRows, mediaTypeRows, sizeRows } from './rows/bodies.ts'
import { changeRows } from './rows/changes.ts'
import { corsRows } from './rows/cors.ts'
import { credentialRows } from './rows/credentials.ts'
import { etagRows } from './rows/etags.ts'
import { keyRows, repeatRows } from './rows/idempotency.ts'
import { int64Rows } from './rows/int64.ts'
import { listRows } from './rows/lists.ts'
import { methodRows } from './rows/methods.ts'
import { limitRows } from './rows/order.ts'
import { pageRows } from './rows/pages.ts'
import { parameterRows } from './rows/parameters.ts'
import { plantRows } from './rows/plants.ts'
import { prefixRows } from './rows/prefixes.ts'
import { randomRows } from './rows/random.ts'
import { specifiedRows } from './rows/specified.ts'
import { streamRows } from './rows/streams.ts'
import { summaryRows } from './rows/summary.ts'
import { furtherRows, textRows } from './rows/texts.ts'
import { unreadRows } from './rows/unread.ts'

export interface Subject {
  readonly name: string
  readonly rows: readonly Row[]
}

type Maker = (circumstances: Circumstances) => readonly Row[]

const makers: readonly (readonly [name: string, ...makers: readonly Maker[]])[] = [
  ['the document itself', specifiedRows],
  ['int64', int64Rows],
  ['names and tags', textRows],
  ['further properties', furtherRows],
  ['bodies', bodyRows, sizeRows, mediaTypeRows],
  ['limits of HTTP', limitRows],
  ['credentials', credentialRows],
  ['parameters', parameterRows],
  ['paths and methods', methodRows],
  ['pages', pageRows],
  ['Idempotency-Key', keyRows, repeatRows],
  ['plants and ETags', plantRows, etagRows, unreadRows],
  ['lists', listRows, prefixRows],
  ['changes', changeRows, streamRows],
  ['summary', summaryRows],
  ['random requests', randomRows],
  ['CORS', corsRows],
]

/** Returns the rows of a level; `complete` includes those of `specified`. */
export function makeSubjects(circumstances: Circumstances, level: Level): readonly Subject[] {
  return makers
    .map(([name, ...all]) => ({
      name,
      rows: all.flatMap((make) => make(circumstances)).filter((row) => level === 'complete' || row.level === level),
    }))
    .filter(({ rows }) => rows.length > 0)
}
