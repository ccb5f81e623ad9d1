// The expected result for a body, computed without src/json: by JSON.parse, by the decoder of `plantstore verify`, which
// has longer integers, and by the rules of the document, written again. The corpus has the positions in messages.

import type { JsonValue } from '../../src/json/decode.ts'
import { limits } from '../../src/limits.ts'
import { decodeJson } from '../../verify/json.ts'

export interface Judgement {
  readonly answer: 200 | 40001 | 40002
  /** Absent if the body is not JSON. */
  readonly value?: JsonValue
}

/** As ECMAScript 2026 has it, and TypeScript does not yet. */
type ParseWithSource = (
  text: string,
  reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => JsonValue

export function judge(bytes: Buffer): Judgement {
  try {
    decodeJson(bytes)
    const value = parseExactly(bytes.toString())
    if (depthOf(value) > limits.jsonDepthMax) return { answer: 40001 }
    return { answer: isPlant(value) ? 200 : 40002, value }
  } catch (error) {
    // It takes less depth than JSON.parse.
    if (error instanceof SyntaxError || error instanceof RangeError) return { answer: 40001 }
    throw error
  }
}

/** How deep arrays and objects are nested. */
function depthOf(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Object.values(value).reduce((most: number, each) => Math.max(most, depthOf(each)), 0)
}

/** JSON.parse with the exact value of each number. */
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
  // No other power of ten can make an integer of up to 40 digits.
  if (shift > 40n || shift < -BigInt(source.length)) return Number(source)
  const power = 10n ** (shift < 0n ? -shift : shift)
  if (shift < 0n && digits % power !== 0n) return Number(source)
  const integer = shift < 0n ? digits / power : digits * power
  return integer < 10n ** 40n ? sign * integer : Number(source)
}

/** The rules of openapi.yaml for a new plant. */
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
