// `plantstore/verify`: tests any server from a program or a test suite. The command prints the same report.

import type { Level, RowName, VerifyOptions, VerifyReport } from './results.ts'
import { nameRows, runRows } from './run.ts'

// biome-ignore lint/performance/noBarrelFile: these are the exports of the package.
export { DocumentError } from './document.ts'
export type { Level, RowName, RowResult, ShownFailure, VerifyOptions, VerifyReport } from './results.ts'
export { NoAnswer, TakenError } from './results.ts'

/**
 * Tests a server. A wrong server does not reject: its report has failed rows.
 *
 * Rejects with NoAnswer if the server cannot be reached, with TakenError if an id of the range is taken, with the
 * signal's reason if it was aborted, with TypeError or RangeError for invalid options, and with DocumentError for a
 * document that cannot be used.
 */
export async function verify(options: VerifyOptions): Promise<VerifyReport> {
  options.signal?.throwIfAborted()
  const report = await runRows(options)
  options.signal?.throwIfAborted()
  return report
}

/** Returns the rows of a level, for the bundled document, without running them, such as to name a test after each. */
export function rowsOf(level: Level = 'complete'): readonly RowName[] {
  return nameRows(level)
}
