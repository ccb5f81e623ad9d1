// The report as JUnit XML for CI servers: a suite per subject, a case per row.

import { countResults } from './report.ts'
import type { Result, RunReport } from './run.ts'
import { showFailure } from './show.ts'

export function formatJunitReport(report: RunReport): string {
  const suites = [...Map.groupBy(report.results, ({ subject }) => subject)].map(([name, results]) => {
    const cases = results.map((result) => formatCase(result, report))
    return `  <testsuite ${attributes({ name, ...totals(results) })}>\n${cases.join('')}  </testsuite>\n`
  })
  const all = attributes({ name: 'plantstore verify', ...totals(report.results) })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${all}>\n${suites.join('')}</testsuites>\n`
}

function totals(results: readonly Result[]): Record<string, number> {
  const { failed, skipped } = countResults(results)
  return { tests: results.length, failures: failed, errors: 0, skipped }
}

function formatCase(result: Result, { credentials }: RunReport): string {
  const opening = `    <testcase ${attributes({ classname: result.subject, name: result.row.title })}`
  if (result.skipped !== undefined) {
    return `${opening}>\n      <skipped ${attributes({ message: result.skipped })}/>\n    </testcase>\n`
  }
  const shown = showFailure(result, credentials)
  if (shown === undefined) return `${opening}/>\n`
  const { request, sent, came, wrong, document } = shown
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
