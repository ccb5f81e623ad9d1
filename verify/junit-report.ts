// The report as JUnit XML for CI servers: a suite per subject, a case per row.

import { type Counts, countRows, type RowResult, type VerifyReport } from './results.ts'

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

function formatCase({ subject, title, skipped, failure }: RowResult): string {
  const opening = `    <testcase ${attributes({ classname: subject, name: title })}`
  if (skipped !== undefined)
    return `${opening}>\n      <skipped ${attributes({ message: skipped })}/>\n    </testcase>\n`
  if (failure === undefined) return `${opening}/>\n`
  const { request, sent, came, wrong, document } = failure
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
