// Reports: for people, one line per subject, then every failed row with the request, the answer and the document's rule;
// for CI servers, JUnit XML.

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

function formatFailure(
  { subject, title, document, failure }: RowResult,
  harmless: TextOptions['harmless'],
): readonly string[] {
  if (failure === undefined) return []
  const { request, sent, came, wrong } = failure
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

/** As JUnit XML for CI servers: a suite per subject, a case per row. */
export function formatJunitReport({ rows, counts }: VerifyReport): string {
  const suites = [...Map.groupBy(rows, ({ subject }) => subject)].map(([name, own]) => {
    const cases = own.map(formatCase)
    return `  <testsuite ${attributes({ name, ...totals(countRows(own)) })}>\n${cases.join('')}  </testsuite>\n`
  })
  const all = attributes({ name: 'plantstore verify', ...totals(counts) })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${all}>\n${suites.join('')}</testsuites>\n`
}

function totals({ rows, failed, skipped }: Counts): Record<string, number> {
  return { tests: rows, failures: failed, errors: 0, skipped }
}

function formatCase({ subject, title, document, skipped, failure }: RowResult): string {
  const opening = `    <testcase ${attributes({ classname: subject, name: title })}`
  if (skipped !== undefined)
    return `${opening}>\n      <skipped ${attributes({ message: skipped })}/>\n    </testcase>\n`
  if (failure === undefined) return `${opening}/>\n`
  const { request, sent, came, wrong } = failure
  const text = [`sent, ${request}:`, ...sent, 'came:', ...came, 'document:', document].join('\n')
  return `${opening}>\n      <failure ${attributes({ message: wrong })}>${escapeText(text)}</failure>\n    </testcase>\n`
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}="${escapeText(String(value)).replaceAll('"', '&quot;').replaceAll('\n', ' ')}"`)
    .join(' ')
}

/** XML cannot represent most control characters or unpaired surrogates, even escaped. */
function escapeText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]/g, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}
