// Requests as described by rows, and the received answers.

import { decodeJson, type JsonValue } from './json.ts'

/** A create with the token by default. Header values may contain names of credentials, such as `$TOKEN`. */
export interface RowRequest {
  readonly method?: string
  /** A path relative to the base URL, with its query. */
  readonly target?: string
  /** Header lines; undefined removes a default line. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** Additional header lines, for repeated names. */
  readonly lines?: readonly string[]
  readonly body?: string | Buffer
  /** For an answer without an end: whether enough of its body has been read. */
  readonly isEnough?: (body: string) => boolean
  /** The plant in the body is invalid. */
  readonly isInvalid?: boolean
  /** Bytes per chunk, to send the body chunked. */
  readonly chunkBytes?: number
}

export interface Answer {
  readonly status: number
  /** Header fields as received, in order. */
  readonly fields: readonly Field[]
  readonly body: Buffer
}

export type Field = readonly [name: string, value: string]

/** By the names that rows use, such as `$TOKEN`; undefined for those that a run does not have. */
export type Credentials = Readonly<Record<string, string | undefined>>

/** Replaces names of credentials with their values. */
export function fillIn(text: string, credentials: Credentials): string {
  return text.replaceAll(/\$[A-Z_]+/g, (name) => credentials[name] ?? name)
}

const longCharacters = 16
const beginningCharacters = 8

/**
 * Replaces credentials with their names, longest first, since one may contain another. Also hides the beginning of a
 * long credential, as in truncated text. A short one, which may occur within any word, is hidden only as a separate
 * word.
 */
export function withoutCredentials(text: string, credentials: Credentials): string {
  const secrets = Object.entries(credentials)
    .flatMap(([name, secret]) => (secret ? [[name, secret] as const] : []))
    .toSorted(([, one], [, other]) => other.length - one.length)
  const isLong = (secret: string): boolean => secret.length >= longCharacters
  const hide = (rest: string, pattern: string, by: string) => rest.replaceAll(new RegExp(pattern, 'g'), () => by)
  const withoutWhole = secrets.reduce((rest, [name, secret]) => {
    const whole = escapePattern(secret)
    return hide(rest, isLong(secret) ? whole : `(?<!\\w)${whole}(?!\\w)`, name)
  }, text)
  return secrets.reduce((rest, [name, secret]) => {
    const begun = escapePattern(secret.slice(0, beginningCharacters))
    return isLong(secret) ? hide(rest, `${begun}[\\w.~+/=-]*`, `${name}...`) : rest
  }, withoutWhole)
}

export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

/** The value of a header field; repeated fields are joined by commas. */
export function fieldOf({ fields }: Answer, wanted: string): string | undefined {
  const lower = wanted.toLowerCase()
  const values = fields.filter(([name]) => name.toLowerCase() === lower).map(([, value]) => value)
  return values.length === 0 ? undefined : values.join(', ')
}

/** Whether an answer is declared as JSON. */
export function isJson(answer: Answer): boolean {
  return /^application\/json[ \t]*(?:;|$)/i.test(fieldOf(answer, 'content-type') ?? '')
}

/** Many rules read each body. */
const decoded = new WeakMap<Buffer, JsonValue | undefined>()

/** The parsed body with exact integers; undefined if it is not JSON. */
export function jsonOf({ body }: Pick<Answer, 'body'>): JsonValue | undefined {
  if (!decoded.has(body)) decoded.set(body, decode(body))
  return decoded.get(body)
}

function decode(body: Buffer): JsonValue | undefined {
  try {
    return decodeJson(body)
  } catch {
    return undefined
  }
}

/** The object in a body; empty if there is none. */
export function objectOf(answer: Pick<Answer, 'body'>): Readonly<Record<string, JsonValue | undefined>> {
  const value = jsonOf(answer)
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}

/** The objects of the list in a body; none if there is none. */
export function itemsOf(answer: Answer): readonly Readonly<Record<string, JsonValue | undefined>>[] {
  const value = jsonOf(answer)
  return Array.isArray(value) ? value.map((each) => (each ?? {}) as Record<string, JsonValue>) : []
}

/** The members of a list in a header field (RFC 9110, section 5.6.1). */
export function membersOf(value: string | undefined): readonly string[] {
  return (value ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}
