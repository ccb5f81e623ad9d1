// Makes the result of a row: what was sent and what came in words, short, on one line each, without credentials.

import { type Answer, type Credentials, fieldOf, isJson, type RowRequest, withoutCredentials } from './message.ts'
import type { RowResult, ShownFailure } from './results.ts'
import type { PlacedRow } from './row.ts'
import type { Failure, Outcome } from './store.ts'

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
  return [`${method} ${target}`, ...fields, ...(lines ?? []), ...chunked, ...(body === undefined ? [] : [showBody(body)])]
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
