// The rings of the tests. `npm test` runs the first one: every promise once, most with their controls.
// `npm run test:all` runs the second one, too: a kill at every call, every state of a page, long random runs, and the
// files *.exhaustive.ts. With TEST_RING=nightly, it judges every wrong server, not only a sample.

import { describe, type TestContext, type TestOptions, test } from 'node:test'

const ring = process.env['TEST_RING']
const isExhaustive = ring === 'all' || ring === 'nightly'

/** Tests and suites of the second ring. */
export const exhaustive = {
  describe: (isExhaustive ? describe : () => {}) as typeof describe,
  test: (isExhaustive ? test : () => {}) as typeof test,
} as const

/** Makes tests that are given what `make` makes for each. */
export function testOn<Own extends AsyncDisposable>(make: () => Promise<Own>, inRing = test) {
  type Run = (own: Own, context: TestContext) => Promise<void>
  return (title: string, ...rest: [run: Run] | [options: TestOptions, run: Run]): void => {
    const [options, run] = rest.length === 1 ? [{}, rest[0]] : rest
    void inRing(title, options, async (context) => {
      await using own = await make()
      await run(own, context)
    })
  }
}

/** What differs from ring to ring, such as the number of rounds. */
export function inRing<Value>(first: Value, second: Value, nightly = second): Value {
  if (ring === 'nightly') return nightly
  return isExhaustive ? second : first
}

/** In the first ring some, in the second one of so many more, and nightly all. */
export function someInRing<Each>(some: readonly Each[], all: readonly Each[], oneIn: number): readonly Each[] {
  return inRing(some, [...new Set([...some, ...sampleOf(all, oneIn)])], all)
}

/** One of so many, for a ring that has no time for all. */
export function sampleOf<Each>(all: readonly Each[], oneIn: number): readonly Each[] {
  return all.filter((_, at) => at % oneIn === 0)
}
