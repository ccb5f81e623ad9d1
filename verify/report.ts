// A report for people: one line per subject, then every failed row with the request, the answer and the document's
// rule.

import type { Credentials } from './message.ts'
import type { Result, RunReport } from './run.ts'
import { showFailure } from './show.ts'

export interface TextOptions {
  /** Prints one line per row instead of per subject. */
  readonly verbose: boolean
  /** Makes foreign text safe for a terminal. */
  readonly harmless: (text: string) => string
}

export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

const leftShownMax = 10
/** Failed rows that are shown of each subject. */
const failuresShown = 5

export function countResults(results: readonly Result[]): Counts {
  const failed = results.filter(({ failure }) => failure !== undefined).length
  const skipped = results.filter(({ skipped }) => skipped !== undefined).length
  return { passed: results.length - failed - skipped, failed, skipped }
}

export function formatReport(report: RunReport, { verbose, harmless }: TextOptions): string {
  const { base, level, ids, results, left } = report
  const subjects = [...Map.groupBy(results, ({ subject }) => subject)]
  const width = Math.max(...subjects.map(([name]) => name.length))
  const rows = subjects.flatMap(([name, each]) =>
    verbose
      ? [name, ...each.map((result) => `  ${formatOutcome(result)}`), '']
      : [`${name.padEnd(width)}  ${formatCounts(countResults(each))}`],
  )
  const failures = subjects.flatMap(([, each]) => {
    const failed = each.filter(({ failure }) => failure !== undefined)
    const shown = verbose ? failed : failed.slice(0, failuresShown)
    const others = failed.slice(shown.length).map(({ subject, row }) => `FAILED  ${subject}: ${row.title}`)
    return [
      ...shown.flatMap((result) => formatFailure(result, report.credentials, harmless)),
      ...(others.length === 0 ? [] : ['', ...others, '(--verbose shows more)']),
    ]
  })
  const lines = [
    `${addressOf(base)}, level ${level}, ids ${ids.first} to ${ids.last}`,
    '',
    ...rows,
    ...formatSkipped(results),
    ...failures,
    '',
    `${formatCounts(countResults(results))}, of ${results.length} rows`,
    ...formatLeft(left),
  ]
  return `${lines.join('\n').replaceAll(/\n{3,}/g, '\n\n')}\n`
}

/** A base URL without possible secrets. */
export function addressOf({ origin, pathname }: URL): string {
  return origin + pathname.replace(/\/$/, '')
}

export function formatCounts({ passed, failed, skipped }: Counts): string {
  const parts = [`${passed} passed`, failed > 0 && `${failed} failed`, skipped > 0 && `${skipped} skipped`]
  return parts.filter((part) => part !== false).join(', ')
}

function formatOutcome({ row, failure, skipped }: Result): string {
  if (skipped !== undefined) return `skipped  ${row.title}`
  return `${failure === undefined ? 'passed ' : 'FAILED '}  ${row.title}`
}

function formatSkipped(results: readonly Result[]): readonly string[] {
  const reasons = Map.groupBy(
    results.filter(({ skipped }) => skipped !== undefined),
    ({ skipped }) => skipped,
  )
  const lines = [...reasons].map(([reason, each]) => `${each.length} skipped: ${reason}`)
  return lines.length === 0 ? [] : ['', ...lines]
}

function formatFailure(
  result: Result,
  credentials: Credentials,
  harmless: (text: string) => string,
): readonly string[] {
  const failure = showFailure(result, credentials)
  if (failure === undefined) return []
  const { request, sent, came, wrong, document } = failure
  const part = (name: string, lines: readonly string[]): readonly string[] =>
    lines.map((line, index) => `  ${(index === 0 ? name : '').padEnd(8)}  ${harmless(line)}`)
  const which = request === 'the request' ? '' : `, ${request}`
  return [
    '',
    `FAILED  ${result.subject}: ${result.row.title}${which}`,
    ...part('sent', sent),
    ...part('came', came),
    ...part('wrong', [wrong]),
    ...part('document', [document]),
  ]
}

function formatLeft(left: readonly string[]): readonly string[] {
  if (left.length === 0) return []
  const rest = left.length > leftShownMax ? [`  and ${left.length - leftShownMax} more`] : []
  return [
    'Left on the server, because it could not be deleted:',
    ...left.slice(0, leftShownMax).map((each) => `  ${each}`),
    ...rest,
    'The next run on this server needs other ids: see --ids.',
  ]
}
