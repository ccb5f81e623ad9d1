// Formats requests and answers for people: short, on one line each, without credentials.

import { limits } from '../src/limits.ts'
import { type Answer, type Credentials, fieldOf, isJson, type RowRequest, withoutCredentials } from './message.ts'
import type { ShownFailure } from './results.ts'
import type { Result } from './run.ts'

export function showFailure({ row, failure }: Result, credentials: Credentials): ShownFailure | undefined {
  if (failure === undefined) return undefined
  // Requests contain only names of credentials, but a server may echo their values.
  const hide = (text: string): string => shorten(withoutCredentials(text, credentials))
  const { request, answer, why, step } = failure
  return {
    request: row.steps.length > 1 ? `request ${step + 1} of ${row.steps.length}` : 'the request',
    sent: showRequest(request).map(shorten),
    came: answer === undefined ? ['no answer'] : showAnswer(answer).map(hide),
    wrong: answer === undefined ? why : hide(why),
    document: `${row.document} (${row.where})`,
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
  const type = fieldOf(answer, 'content-type') ?? 'no Content-Type'
  const status = isJson(answer) || answer.body.length === 0 ? `${answer.status}` : `${answer.status}, ${type}`
  return [status, ...(answer.body.length === 0 ? [] : [showBody(answer.body)])]
}

function showBody(body: string | Buffer): string {
  const text = body.toString().replaceAll(/\r?\n/g, '\\n')
  const bytes = Buffer.byteLength(body)
  if (bytes === 0) return 'an empty body'
  return text.length > limits.verifyShownCharacters ? `${shorten(text)} (${bytes} bytes)` : text
}

function shorten(text: string): string {
  const characters = limits.verifyShownCharacters
  return text.length > 2 * characters ? `${text.slice(0, characters)}...` : text
}
