// The expected result for a body, computed without src/json: by JSON.parse, and by separate rules where the decoder is
// meant to differ from it. The corpus has the positions in messages.

import { isUtf8 } from 'node:buffer'
import type { JsonValue } from '../../src/json/decode.ts'
import { limits } from '../../src/limits.ts'

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

const token = /[ \t\r\n]*("(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+)/y

export function judge(bytes: Buffer): Judgement {
  const text = bytes.toString('utf8')
  if (!isUtf8(bytes) || text.startsWith('\ufeff')) return { answer: 40001 }
  try {
    const value = parseExactly(text)
    if (isRefused(text)) return { answer: 40001 }
    return { answer: isPlant(value) ? 200 : 40002, value }
  } catch (error) {
    if (error instanceof SyntaxError) return { answer: 40001 }
    throw error
  }
}

/** Whether JSON is nested deeper than allowed, or an object has a key twice. */
function isRefused(text: string): boolean {
  const open: (Set<string> | undefined)[] = []
  let previous = ''
  token.lastIndex = 0
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const found = match[1] ?? ''
    const keys = open.at(-1)
    if (found === '{' || found === '[') {
      if (open.length === limits.jsonDepthMax) return true
      open.push(found === '{' ? new Set() : undefined)
    } else if (found === '}' || found === ']') {
      open.pop()
    } else if (found.startsWith('"') && keys !== undefined && (previous === '{' || previous === ',')) {
      const key = JSON.parse(found) as string
      if (keys.has(key)) return true
      keys.add(key)
    }
    previous = found
  }
  return false
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

/** The rules of openapi.yaml for a new plant, written again. */
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
