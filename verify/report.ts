// A report for people: one line per subject, then every failed row with the request, the answer and the document's
// rule.

import { type Counts, countRows, type RowResult, type VerifyReport } from './results.ts'

export interface TextOptions {
  /** Prints one line per row instead of per subject. */
  readonly verbose: boolean
  /** Makes foreign text safe for a terminal. */
  readonly harmless: (text: string) => string
}

const leftShownMax = 10
/** Failed rows that are shown of each subject. */
const failuresShown = 5

export function formatReport(report: VerifyReport, { verbose, harmless }: TextOptions): string {
  const { url, level, ids, counts, left } = report
  const subjects = [...Map.groupBy(report.rows, ({ subject }) => subject)]
  const width = Math.max(...subjects.map(([name]) => name.length))
  const rows = subjects.flatMap(([name, each]) =>
    verbose
      ? [name, ...each.map((result) => `  ${formatOutcome(result)}`), '']
      : [`${name.padEnd(width)}  ${formatCounts(countRows(each))}`],
  )
  const failures = subjects.flatMap(([, each]) => {
    const failed = each.filter(({ failure }) => failure !== undefined)
    const shown = verbose ? failed : failed.slice(0, failuresShown)
    const others = failed.slice(shown.length).map(({ subject, title }) => `FAILED  ${subject}: ${title}`)
    return [
      ...shown.flatMap((result) => formatFailure(result, harmless)),
      ...(others.length === 0 ? [] : ['', ...others, '(--verbose shows more)']),
    ]
  })
  const lines = [
    `${url}, level ${level}, ids ${ids.first} to ${ids.last}`,
    '',
    ...rows,
    ...formatSkipped(report.rows),
    ...failures,
    '',
    `${formatCounts(counts)}, of ${counts.rows} rows`,
    ...formatLeft(left),
  ]
  return `${lines.join('\n').replaceAll(/\n{3,}/g, '\n\n')}\n`
}

function formatCounts({ passed, failed, skipped }: Counts): string {
  const parts = [`${passed} passed`, failed > 0 && `${failed} failed`, skipped > 0 && `${skipped} skipped`]
  return parts.filter((part) => part !== false).join(', ')
}

function formatOutcome({ title, outcome }: RowResult): string {
  return `${(outcome === 'failed' ? 'FAILED' : outcome).padEnd(7)}  ${title}`
}

function formatSkipped(rows: readonly RowResult[]): readonly string[] {
  const reasons = Map.groupBy(
    rows.filter(({ outcome }) => outcome === 'skipped'),
    ({ skipped }) => skipped,
  )
  const lines = [...reasons].map(([reason, each]) => `${each.length} skipped: ${reason}`)
  return lines.length === 0 ? [] : ['', ...lines]
}

function formatFailure({ subject, title, failure }: RowResult, harmless: TextOptions['harmless']): readonly string[] {
  if (failure === undefined) return []
  const { request, sent, came, wrong, document } = failure
  const part = (name: string, lines: readonly string[]): readonly string[] =>
    lines.map((line, index) => `  ${(index === 0 ? name : '').padEnd(8)}  ${harmless(line)}`)
  const which = request === 'the request' ? '' : `, ${request}`
  return [
    '',
    `FAILED  ${subject}: ${title}${which}`,
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
