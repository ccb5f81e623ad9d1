// What has to come of a body, found without src/json: by JSON.parse, and by rules of its own where ours is meant to
// differ from it.

import type { JsonValue } from '../../src/json/decode.ts'

export interface Limits {
  readonly jsonDepthMax: number
}

export interface Judgement {
  readonly answer: 200 | 40001 | 40002
  /** What the body is; nothing when it is not JSON. */
  readonly value?: JsonValue
  /** The bytes that a message about what is not JSON may name; none when JSON.parse does not tell. */
  readonly at?: readonly number[]
  /** Or the character that it stopped at, when that is all that it tells. */
  readonly token?: string
}

/** As ECMAScript 2026 has it, and TypeScript does not yet. */
type ParseWithSource = (
  text: string,
  reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => JsonValue

/** The syntax of RFC 3629, section 4, on bytes that were made characters. */
const utf8Characters = new RegExp(
  [
    /[\x00-\x7f]+|[\xc2-\xdf][\x80-\xbf]/,
    /\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]/,
    /\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'y',
)
const token = /[ \t\r\n]*("(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|[{}[\],:]|[^\s"{}[\],:]+)/y

export function judge(bytes: Buffer, limits: Limits): Judgement {
  const brokenAt = findBrokenCharacter(bytes)
  if (brokenAt !== undefined) return { answer: 40001, at: [brokenAt] }
  const text = bytes.toString('utf8')
  const toBytes = (index: number): number => Buffer.byteLength(text.slice(0, index))
  if (text.startsWith('\ufeff')) return { answer: 40001, at: [0] }
  const refused = findRefused(text, limits.jsonDepthMax)
  const error = parseError(text)
  if (error === undefined && refused === undefined) {
    const value = parseExactly(text)
    return { answer: isPlant(value) ? 200 : 40002, value }
  }
  if (error?.at === undefined) {
    const at = refused === undefined ? [] : [toBytes(refused)]
    return { answer: 40001, at, ...(error?.token !== undefined && { token: error.token }) }
  }
  return { answer: 40001, at: [toBytes(Math.min(error.at, refused ?? error.at))] }
}

function findBrokenCharacter(bytes: Buffer): number | undefined {
  const text = bytes.toString('latin1')
  let at = 0
  while (at < text.length) {
    utf8Characters.lastIndex = at
    if (!utf8Characters.test(text)) return at
    at = utf8Characters.lastIndex
  }
  return undefined
}

/** Where a text goes deeper than allowed, or has a key for the second time, as far as it can be told into tokens. */
function findRefused(text: string, depthMax: number): number | undefined {
  const open: (Set<string> | undefined)[] = []
  let previous = ''
  token.lastIndex = 0
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const found = match[1] ?? ''
    const at = match.index + match[0].length - found.length
    const keys = open.at(-1)
    if (found === '{' || found === '[') {
      if (open.length === depthMax) return at
      open.push(found === '{' ? new Set() : undefined)
    } else if (found === '}' || found === ']') {
      open.pop()
    } else if (found.startsWith('"') && keys !== undefined && (previous === '{' || previous === ',')) {
      const key = JSON.parse(found) as string
      if (keys.has(key)) return at
      keys.add(key)
    }
    previous = found
  }
  return undefined
}

/** What JSON.parse has against a text: V8 names the position, in units of UTF-16, or at least the character. */
function parseError(text: string): { readonly at?: number; readonly token?: string } | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    const { message } = error as Error
    const position = /at position (\d+)/.exec(message)?.[1]
    if (position !== undefined) return { at: Number(position) }
    if (message === 'Unexpected end of JSON input') return { at: text.length }
    const token = /^Unexpected token '(.*?)', /s.exec(message)?.[1]
    return token === undefined ? {} : { token }
  }
}

/** JSON.parse, with every number as the text of its source has it. */
function parseExactly(text: string): JsonValue {
  return (JSON.parse as ParseWithSource)(text, (_key, value, { source = '' }) =>
    typeof value === 'number' ? toExact(source) : value,
  )
}

/** An integer of up to 40 digits as a bigint, any other number as JavaScript has it. */
function toExact(source: string): bigint | number {
  const [, minus, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? []
  const digits = BigInt(whole + fraction)
  if (digits === 0n) return 0n
  const sign = minus === '-' ? -1n : 1n
  const shift = BigInt(exponent) - BigInt(fraction.length)
  // Nobody's power of ten has more digits than the text has, and 40.
  if (shift > 40n || shift < -BigInt(source.length)) return Number(source)
  const power = 10n ** (shift < 0n ? -shift : shift)
  if (shift < 0n && digits % power !== 0n) return Number(source)
  const integer = shift < 0n ? digits / power : digits * power
  return integer < 10n ** 40n ? sign * integer : Number(source)
}

/** What openapi.yaml says of a new plant, in other words. */
function isPlant(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const members = new Map(Object.entries(value))
  const id = members.get('id')
  const isText = (text: JsonValue | undefined, charactersMax: number): boolean =>
    typeof text === 'string' && text.isWellFormed() && !text.includes('\0') && [...text].length <= charactersMax
  return (
    typeof id === 'bigint' &&
    BigInt.asIntN(64, id) === id &&
    isText(members.get('name'), 1024) &&
    (!members.has('tag') || isText(members.get('tag'), 256))
  )
}
