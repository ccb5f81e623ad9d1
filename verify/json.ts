// Reads JSON strictly (RFC 8259), with exact integers, and writes it.

import { isUtf8 } from 'node:buffer'

/** An integer of up to 1,000 digits, in any notation (`7`, `7.0`, `70e-1`), is a bigint; others are numbers. */
export type JsonValue = null | boolean | bigint | number | string | JsonValue[] | { [key: string]: JsonValue }

const integerDigitsMax = 1_000
const strings = /"(?:[^"\\]|\\.)*"(\s*:)?/gs

/** Throws SyntaxError, or RangeError for a text that is nested too deep. */
export function decodeJson(bytes: Uint8Array): JsonValue {
  if (!isUtf8(bytes)) throw new SyntaxError('it is not UTF-8')
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
  const value = parse(text, (_key, each, { source = '' }) =>
    typeof each === 'number' ? (toInteger(source) ?? each) : each,
  ) as JsonValue
  // JSON.parse keeps the last of repeated keys.
  const keys = [...text.matchAll(strings)].filter(([, colon]) => colon !== undefined)
  if (keys.length !== countKeys(value)) throw new SyntaxError('an object repeats a key')
  return value
}

/** Writes integers with all their digits. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? rawJson(String(each)) : each))
}

function countKeys(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner = Object.values(value).reduce((sum: number, each) => sum + countKeys(each), 0)
  return Array.isArray(value) ? inner : inner + Object.keys(value).length
}

function toInteger(literal: string): bigint | undefined {
  if (literal.length > integerDigitsMax) return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  if (digits === '') return 0n
  const significant = digits.replace(/0+$/, '')
  const zeros = Number(exponent) - fraction.length + (digits.length - significant.length)
  if (zeros < 0 || significant.length + zeros > integerDigitsMax) return undefined
  return BigInt(`${sign}${significant}${'0'.repeat(zeros)}`)
}

// TypeScript does not declare these yet.
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON
