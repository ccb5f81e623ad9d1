// The rings of the tests. `npm test` runs the first one: every promise once, most with their controls.
// `npm run test:all` runs the second one, too: a kill at every call, every state of a page, long random runs, and the
// files *.exhaustive.ts.

import { describe, test } from 'node:test'

const isExhaustive = process.env['TEST_RING'] === 'all'

/** Tests and suites of the second ring. */
export const exhaustive = {
  describe: (isExhaustive ? describe : () => {}) as typeof describe,
  test: (isExhaustive ? test : () => {}) as typeof test,
} as const

/** What differs from ring to ring, such as the number of rounds. */
export function inRing<Value>(first: Value, second: Value): Value {
  return isExhaustive ? second : first
}
