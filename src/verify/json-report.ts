// The report as one JSON document. Ids are strings, because most programs would round them.

import { addressOf, countResults } from './report.ts'
import { showFailure } from './show.ts'
import type { Report, Result } from './verify.ts'

export function formatJsonReport(report: Report): string {
  const { base, level, ids, results, left, credentials } = report
  const rows = results.map((result) => ({
    subject: result.subject,
    title: result.row.title,
    level: result.row.level,
    outcome: outcomeOf(result),
    document: result.row.document,
    where: result.row.where,
    skipped: result.skipped,
    failure: showFailure(result, credentials),
  }))
  const counts = { rows: results.length, ...countResults(results) }
  const range = { first: String(ids.first), last: String(ids.last) }
  return `${JSON.stringify({ url: addressOf(base), level, ids: range, counts, left, rows }, undefined, 2)}\n`
}

function outcomeOf({ failure, skipped }: Result): 'passed' | 'failed' | 'skipped' {
  if (skipped !== undefined) return 'skipped'
  return failure === undefined ? 'passed' : 'failed'
}
