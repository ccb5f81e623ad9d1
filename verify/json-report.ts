// The report as data: what `--json` prints, and what `verify` of plantstore/verify returns.

import { addressOf, countResults } from './report.ts'
import type { RowResult, VerifyReport } from './results.ts'
import type { Result, RunReport } from './run.ts'
import { showFailure } from './show.ts'

export function toReport({ base, level, ids, results, left, credentials }: RunReport): VerifyReport {
  return {
    url: addressOf(base),
    level,
    ids: { first: String(ids.first), last: String(ids.last) },
    counts: { rows: results.length, ...countResults(results) },
    left,
    rows: results.map((result) => ({
      subject: result.subject,
      title: result.row.title,
      level: result.row.level,
      outcome: outcomeOf(result),
      document: result.row.document,
      where: result.row.where,
      skipped: result.skipped,
      failure: showFailure(result, credentials),
    })),
  }
}

function outcomeOf({ failure, skipped }: Result): RowResult['outcome'] {
  if (skipped !== undefined) return 'skipped'
  return failure === undefined ? 'passed' : 'failed'
}
