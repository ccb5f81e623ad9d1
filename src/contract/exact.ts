// Checks values of json/decode.ts by keywords that Ajv would check for numbers only, or in quadratic time.

import { int64Max, int64Min } from '../domain/plant.ts'
import { toJson } from './plant.ts'
import { isObject } from './schemas.ts'

/** The types and bounds of a numeric schema, as JSON: a bound that a JavaScript number cannot hold is a text. */
export interface Exact {
  readonly types: readonly string[]
  readonly format?: keyof typeof integerFormats
  readonly minimum?: number | string
  readonly maximum?: number | string
  readonly exclusiveMinimum?: number | string
  readonly exclusiveMaximum?: number | string
}

export const integerFormats = { int32: [-(2n ** 31n), 2n ** 31n - 1n], int64: [int64Min, int64Max] } as const

/** Whether a value meets `schema`. JavaScript compares a bigint and a number exactly. */
export function isExact(value: unknown, schema: Exact): boolean {
  const { types, format, minimum = -Infinity, maximum = Infinity } = schema
  const { exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = schema
  const isNumber = typeof value === 'bigint' || (types.includes('number') && !format && Number.isFinite(value))
  if (!isNumber) return types.some((type) => isOfType(value, type))
  const number = value as bigint | number
  const isOfFormat = !format || (number >= integerFormats[format][0] && number <= integerFormats[format][1])
  const isInBounds = number >= boundOf(minimum) && number <= boundOf(maximum)
  return isOfFormat && isInBounds && number > boundOf(exclusiveMinimum) && number < boundOf(exclusiveMaximum)
}

function boundOf(bound: number | string): number | bigint {
  return typeof bound === 'string' ? BigInt(bound) : bound
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isObject(value)
  return type !== 'number' && typeof value === type
}

/** Exact for decimal fractions, such as prices: 19.99 is a multiple of 0.01. */
export function isMultiple(value: unknown, divisor: number | bigint): boolean {
  if (typeof value !== 'bigint' && typeof value !== 'number') return true
  const [digits, scale] = toDecimal(value)
  const [step, stepScale] = toDecimal(divisor)
  const most = Math.max(scale, stepScale)
  return (digits * 10n ** BigInt(most - scale)) % (step * 10n ** BigInt(most - stepScale)) === 0n
}

/** The digits of a number, and how many of them follow the decimal point. */
function toDecimal(value: number | bigint): readonly [digits: bigint, scale: number] {
  const [, whole = '0', fraction = '', exponent = '0'] =
    /^(-?\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(String(value)) ?? []
  const scale = fraction.length - Number(exponent)
  return scale >= 0 ? [BigInt(whole + fraction), scale] : [BigInt(whole + fraction) * 10n ** BigInt(-scale), 0]
}

/** No pattern for text without unpaired surrogates works in every regular expression engine. */
export function isWellFormed(value: unknown, isWanted: boolean): boolean {
  return typeof value !== 'string' || !isWanted || value.isWellFormed()
}

export function areUnique(items: unknown, isWanted: boolean): boolean {
  return !Array.isArray(items) || !isWanted || new Set(items.map(canonical)).size === items.length
}

/** json/decode.ts decodes integers from this size on as numbers, not as bigints. */
const exactMax = 1e40

/** Returns the same text for equal values, whether from the document or from json/decode.ts. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical)}]`
  if (isObject(value)) {
    const members = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`)
    return `{${members.sort()}}`
  }
  return Number.isInteger(value) && Math.abs(value as number) < exactMax ? `${BigInt(value as number)}` : toJson(value)
}
