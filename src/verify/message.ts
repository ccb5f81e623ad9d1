// Requests as rows describe them, and answers as they came.

import type { JsonValue } from '../json/decode.ts'
import { decodeJson } from '../json/decode.ts'
import { limits } from '../limits.ts'

/** By default a create with the token. Header values may name credentials, as `$TOKEN` does. */
export interface RowRequest {
  readonly method?: string
  /** A path below the base URL, with its query. */
  readonly target?: string
  /** Header lines as they are sent; a value of undefined leaves a default line out. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** Header lines in addition, for names that come twice. */
  readonly lines?: readonly string[]
  readonly body?: string | Buffer
  /** Bytes of each chunk, when the body is to be sent without saying how long it is. */
  readonly chunkBytes?: number
}

export interface Answer {
  readonly status: number
  /** As they came, in their order. */
  readonly fields: readonly Field[]
  readonly body: Buffer
}

export type Field = readonly [name: string, value: string]

/** By the names that rows have for them, as `$TOKEN`. */
export type Credentials = Readonly<Record<string, string>>

/** The header lines of a request, in order, but for the one that names its host. */
export function fieldsOf({ headers, lines, body, chunkBytes }: RowRequest): readonly Field[] {
  const length =
    chunkBytes === undefined ? ['Content-Length', String(lengthOf(body))] : ['Transfer-Encoding', 'chunked']
  const fields: Record<string, string | undefined> = {
    Authorization: 'Bearer $TOKEN',
    ...(body !== undefined && Object.fromEntries([['Content-Type', 'application/json'], length])),
    ...headers,
  }
  const further = (lines ?? []).map((line): Field => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon), line.slice(colon + 1).trim()]
  })
  return [...Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined), ...further]
}

/** Puts credentials in the place of their names. */
export function fillIn(text: string, credentials: Credentials): string {
  return text.replaceAll(/\$[A-Z_]+/g, (name) => credentials[name] ?? name)
}

/**
 * Puts names in the place of credentials, the longest first: one may be part of another. Of a long one the beginning
 * alone is hidden, too, as in a text that was cut; a short one, which may be part of any word, only as a word of its own.
 */
export function withoutCredentials(text: string, credentials: Credentials): string {
  const secrets = Object.entries(credentials)
    .filter(([, secret]) => secret !== '')
    .toSorted(([, one], [, other]) => other.length - one.length)
  const isLong = (secret: string): boolean => secret.length >= longCharacters
  const whole = secrets.reduce(
    (rest, [name, secret]) =>
      replace(rest, isLong(secret) ? escapePattern(secret) : `(?<!\\w)${escapePattern(secret)}(?!\\w)`, name),
    text,
  )
  return secrets
    .filter(([, secret]) => isLong(secret))
    .reduce((rest, [name, secret]) => {
      const beginning = escapePattern(secret.slice(0, beginningCharacters))
      return replace(rest, `${beginning}[\\w.~+/=-]*`, `${name}...`)
    }, whole)
}

const longCharacters = 16
const beginningCharacters = 8

function replace(text: string, pattern: string, name: string): string {
  return text.replaceAll(new RegExp(pattern, 'g'), () => name)
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

/** The value of a header field; of one that came more than once all of them, separated by commas. */
export function fieldOf({ fields }: Answer, wanted: string): string | undefined {
  const values = fields.filter(([name]) => name.toLowerCase() === wanted.toLowerCase()).map(([, value]) => value)
  return values.length === 0 ? undefined : values.join(', ')
}

/** Whether an answer says that it is JSON. */
export function isJson(answer: Answer): boolean {
  return /^application\/json[ \t]*(?:;|$)/i.test(fieldOf(answer, 'content-type') ?? '')
}

/** The body's value, its integers exact; undefined when it is no JSON. */
export function jsonOf({ body }: Answer): JsonValue | undefined {
  try {
    return decodeJson(body, limits.jsonDepthMax)
  } catch {
    return undefined
  }
}

function lengthOf(body: string | Buffer | undefined): number {
  return body === undefined ? 0 : Buffer.byteLength(body)
}
