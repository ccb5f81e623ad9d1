// Results of rows in words: what was sent and what came, short, on one line each, without credentials. Reports: for
// people, one line per subject, then every failed row; for CI servers, JUnit XML.

import { type Answer, type Credentials, fieldOf, isJson, type RowRequest, withoutCredentials } from './message.ts'
import { type Counts, countRows, type RowResult, type ShownFailure, type VerifyReport } from './results.ts'
import type { Failure, Outcome, PlacedRow } from './row.ts'

const shownCharacters = 300
/** Characters that control a terminal or direct its text, and those that XML cannot represent. */
const controls = /[\p{Cc}\u2028-\u202e\u2066-\u2069\ufffe\uffff]/gu

/** A base URL without possible secrets. */
export function addressOf({ origin, pathname }: URL): string {
  return origin + pathname.replace(/\/$/, '')
}

/** @param credentials the values to hide. */
export function toResult(
  { subject, title, level, document }: Pick<PlacedRow, 'subject' | 'title' | 'level' | 'document'>,
  { failure, skipped }: Outcome,
  credentials: Credentials,
): RowResult {
  const outcome = skipped !== undefined ? 'skipped' : failure === undefined ? 'passed' : 'failed'
  const shown = failure && showFailure(failure, credentials)
  return { subject, title, level, outcome, document, skipped, failure: shown }
}

function showFailure({ request, answer, why, number }: Failure, credentials: Credentials): ShownFailure {
  // Requests contain only names of credentials, but a server may echo their values.
  const hide = (text: string): string => shorten(withoutCredentials(text, credentials))
  return {
    request: number > 1 ? `request ${number}` : 'the request',
    sent: showRequest(request).map(shorten),
    came: answer === undefined ? ['no answer'] : showAnswer(answer).map(hide),
    wrong: answer === undefined ? shorten(why) : hide(why),
  }
}

/** Shows only the fields that the row tests, without the default token and media type. */
function showRequest({ method = 'POST', target = '/plants', headers, lines, body, chunkBytes }: RowRequest): string[] {
  const fields = Object.entries(headers ?? {}).map(([name, value]) =>
    value === undefined ? `without ${name}` : `${name}: ${value}`,
  )
  const chunked = chunkBytes === undefined ? [] : [`in chunks of ${chunkBytes} bytes`]
  return [
    `${method} ${target}`,
    ...fields,
    ...(lines ?? []),
    ...chunked,
    ...(body === undefined ? [] : [showBody(body)]),
  ]
}

function showAnswer(answer: Answer): string[] {
  const { status, body } = answer
  if (body.length === 0) return [`${status}`]
  const type = isJson(answer) ? '' : `, ${fieldOf(answer, 'content-type') ?? 'no Content-Type'}`
  return [`${status}${type}`, showBody(body)]
}

function showBody(body: string | Buffer): string {
  const text = body.toString().replaceAll(/\r?\n/g, '\\n')
  const bytes = Buffer.byteLength(body)
  if (bytes === 0) return 'an empty body'
  return text.length > shownCharacters ? `${shorten(text)} (${bytes} bytes)` : text
}

function shorten(text: string): string {
  const short = text.length > 2 * shownCharacters ? `${text.slice(0, shownCharacters)}...` : text
  return short.toWellFormed().replaceAll(controls, '\ufffd')
}

const leftShownMax = 10
/** Failed rows that are shown of each subject. */
const failuresShown = 5

/** @param isVerbose whether it has a line per row instead of per subject, and shows all failed rows. */
export function formatReport({ url, level, ids, counts, left, rows }: VerifyReport, isVerbose: boolean): string {
  const subjects = [...Map.groupBy(rows, ({ subject }) => subject)]
  const width = Math.max(...subjects.map(([name]) => name.length))
  const summaries = subjects.flatMap(([name, own]) =>
    isVerbose ? [name, ...own.map(formatOutcome), ''] : [`${name.padEnd(width)}  ${formatCounts(countRows(own))}`],
  )
  const lines = [
    `${url}, level ${level}, ids ${ids.first} to ${ids.last}`,
    '',
    ...summaries,
    ...formatSkipped(rows),
    ...subjects.flatMap(([, own]) => formatFailures(own, isVerbose)),
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
  return `  ${(outcome === 'failed' ? 'FAILED' : outcome).padEnd(7)}  ${title}`
}

function formatSkipped(rows: readonly RowResult[]): readonly string[] {
  const skipped = rows.filter(({ outcome }) => outcome === 'skipped')
  const reasons = Map.groupBy(skipped, (row) => row.skipped)
  return ['', ...[...reasons].map(([reason, each]) => `${each.length} skipped: ${reason}`)]
}

function formatFailures(rows: readonly RowResult[], isVerbose: boolean): readonly string[] {
  const failed = rows.filter(({ failure }) => failure !== undefined)
  const shown = isVerbose ? failed : failed.slice(0, failuresShown)
  const others = failed.slice(shown.length).map(({ subject, title }) => `FAILED  ${subject}: ${title}`)
  return [...shown.flatMap(formatFailure), '', ...others, ...(others.length === 0 ? [] : ['(--verbose shows more)'])]
}

function formatFailure({ subject, title, document, failure }: RowResult): readonly string[] {
  if (failure === undefined) return []
  const { request, sent, came, wrong } = failure
  const part = (name: string, lines: readonly string[]): readonly string[] =>
    lines.map((line, index) => `  ${(index === 0 ? name : '').padEnd(8)}  ${line}`)
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
  const suites = [...Map.groupBy(rows, ({ subject }) => subject)].map(([name, own]) =>
    element('testsuite', { name, ...totals(countRows(own)) }, own.map(formatCase).join('')),
  )
  const all = { name: 'plantstore verify', ...totals(counts) }
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element('testsuites', all, suites.join(''))}`
}

function totals({ rows, failed, skipped }: Counts): Record<string, number> {
  return { tests: rows, failures: failed, errors: 0, skipped }
}

function formatCase({ subject, title, document, skipped, failure }: RowResult): string {
  const skip = skipped === undefined ? '' : element('skipped', { message: skipped }, '')
  const { request, sent = [], came = [], wrong = '' } = failure ?? {}
  const text = escapeText([`sent, ${request}:`, ...sent, 'came:', ...came, 'document:', document].join('\n'))
  const fail = failure === undefined ? '' : element('failure', { message: wrong }, text)
  return element('testcase', { classname: subject, name: title }, `${skip}${fail}`)
}

/** @param inner elements, or escaped text. */
function element(name: string, attributes: Readonly<Record<string, string | number>>, inner: string): string {
  const pairs = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${escapeText(String(value)).replaceAll('"', '&quot;')}"`,
  )
  return `<${name}${pairs.join('')}>${inner.startsWith('<') ? '\n' : ''}${inner}</${name}>\n`
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
