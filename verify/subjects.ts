// All rows by subject, in the order in which they run.

import type { Level } from './results.ts'
import type { Circumstances, Row, Subject } from './row.ts'
import { bodyRows, sizeRows } from './rows/bodies.ts'
import { unless } from './rows/building.ts'
import { changeRows } from './rows/changes.ts'
import { corsRows } from './rows/cors.ts'
import { credentialRows } from './rows/credentials.ts'
import { limitRows, mediaTypeRows, orderRows } from './rows/fields.ts'
import { furtherRows } from './rows/further.ts'
import { keyRows, repeatRows } from './rows/idempotency.ts'
import { int64Rows } from './rows/int64.ts'
import { listRows } from './rows/lists.ts'
import { pathRows } from './rows/paths.ts'
import { plantRows } from './rows/plants.ts'
import { randomRows } from './rows/random.ts'
import { specifiedRows } from './rows/specified.ts'
import { streamRows } from './rows/streams.ts'
import { summaryRows } from './rows/summary.ts'
import { nameRows, tagRows } from './rows/texts.ts'
import { unreadRows } from './rows/unread.ts'
import { requestsOf } from './run-row.ts'

/** Row makers by subject. */
const makers: readonly (readonly [name: string, make: (circumstances: Circumstances) => readonly Row[]])[] = [
  ['the document itself', specifiedRows],
  ['int64', int64Rows],
  ['names', nameRows],
  ['tags', tagRows],
  ['further properties', furtherRows],
  ['bodies', bodyRows],
  ['sizes', sizeRows],
  ['media types', mediaTypeRows],
  ['limits of HTTP', limitRows],
  ['order of refusals', orderRows],
  ['credentials', credentialRows],
  ['paths and methods', pathRows],
  ['Idempotency-Key', (circumstances) => [...keyRows(circumstances), ...repeatRows(circumstances)]],
  ['plants and ETags', (circumstances) => [...plantRows(circumstances), ...unreadRows(circumstances)]],
  ['lists', listRows],
  ['changes', (circumstances) => [...changeRows(circumstances), ...streamRows(circumstances)]],
  ['summary', summaryRows],
  ['random requests', randomRows],
  ['CORS', corsRows],
]

/** Returns the rows of a level; `complete` includes those of `specified`. */
export function makeSubjects(circumstances: Circumstances, level: Level): readonly Subject[] {
  return makers
    .map(([name, make]) => ({
      name,
      rows: make(circumstances)
        .filter((row) => level === 'complete' || row.level === level)
        .map((row) => unlessOther(circumstances, row)),
    }))
    .filter(({ rows }) => rows.length > 0)
}

/** The row, or why it says nothing about a server of another document. */
function unlessOther({ plants }: Circumstances, row: Row): Row {
  const whys = requestsOf(row).map((request) => plants.whyNot(request))
  return unless(whys.find((why) => why !== undefined) ?? false, row)
}
