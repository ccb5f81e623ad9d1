// Compiles schemas with Ajv: the bundled document's in `npm run generate`, and those of a user's document at startup.

import { _ } from 'ajv'
import { Ajv2020, type Options } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { toJson } from './plant.ts'
import { isSchema, mapSchema, type Schema } from './schemas.ts'
import { type Exact, explain, isExact, type Validator } from './validate.ts'

/** The name by which Ajv finds the document that references point into. */
const documentName = 'openapi.json'

/** @param subject the name of the whole value in messages, such as `the body`. */
export function compileValidator(ajv: Ajv2020, schema: Schema, subject: string): Validator {
  return explain(ajv.compile(forAjv(schema) as Schema), subject)
}

/** @param document schemas compiled later may refer to its `components.schemas`. */
export function createAjv(document: Schema, options: Options = {}): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    ownProperties: true,
    // The tests validate the document against the meta-schema.
    meta: false,
    validateSchema: false,
    keywords: ['x-meaning', 'components'],
    ...options,
  })
  addFormats.default(ajv)
  ajv.addKeyword({
    keyword: 'exact',
    schemaType: 'object',
    code: (context) => {
      const check = context.gen.scopeValue('func', { ref: isExact, code: _`isExact` })
      context.pass(_`${check}(${context.data}, ${context.schemaValue})`)
    },
  })
  ajv.addKeyword({ keyword: 'exactEnum', compile: (values: readonly unknown[]) => memberOf(values) })
  ajv.addKeyword({ keyword: 'exactConst', compile: (value: unknown) => memberOf([value]) })
  ajv.addKeyword({ keyword: 'exactMultipleOf', compile: multipleOf })
  // No pattern for text without unpaired surrogates works in every regular expression engine.
  ajv.addKeyword({
    keyword: 'x-wellFormed',
    type: 'string',
    schemaType: 'boolean',
    code: (context) => context.pass(context.schema ? _`${context.data}.isWellFormed()` : _`true`),
  })
  const schemas = (document['components'] as Schema | undefined)?.['schemas'] ?? {}
  const converted = Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, forAjv(schema)]))
  return ajv.addSchema({ components: { schemas: converted } }, documentName)
}

const bounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const
const proto = '__proto__'
const simpleMax = 50
/** json/decode.ts decodes integers from this size on as numbers, not as bigints. */
const exactMax = 1e40
const numericFormats = ['int32', 'int64', 'float', 'double']
/** Keywords that do not validate, or to which Ajv gives a meaning that JSON Schema does not. */
const annotations = new Set([
  ...['title', 'description', 'default', 'example', 'examples', 'deprecated', '$comment', 'nullable'],
])

/**
 * Converts a schema for `createAjv`. References lead into the document. Numeric keywords become keywords that accept
 * the bigints of json/decode.ts, as Ajv's own do not.
 */
export function forAjv(schema: unknown): unknown {
  return mapSchema(schema, (each) => {
    const types = typesOf(each)
    const isNumeric = types.some((type) => type === 'integer' || type === 'number')
    const replaced = new Set<string>(isNumeric ? ['type', ...bounds] : bounds)
    if (numericFormats.includes(String(each['format']))) replaced.add('format')
    const kept = Object.entries(each)
      .filter(([keyword]) => !replaced.has(keyword) && !annotations.has(keyword))
      .map(([keyword, value]) => convert(keyword, value))
    return keepProto({ ...Object.fromEntries(kept), ...(isNumeric && { exact: exactOf(each, types) }) })
  })
}

/** Bounds without a type allow every value that is not a number. */
function typesOf({ type, format, ...others }: Schema): readonly string[] {
  if (type !== undefined) return (Array.isArray(type) ? type : [type]) as readonly string[]
  const isBounded = bounds.some((bound) => Object.hasOwn(others, bound)) || numericFormats.includes(String(format))
  return isBounded ? ['number', 'string', 'boolean', 'null', 'array', 'object'] : []
}

function convert(keyword: string, value: unknown): readonly [string, unknown] {
  switch (keyword) {
    case '$ref':
      return [keyword, `${documentName}${value}`]
    case 'multipleOf':
      return ['exactMultipleOf', value]
    case 'const':
      return isSimple(value) ? [keyword, value] : ['exactConst', value]
    case 'enum':
      // Ajv would compare a value with each item of a long list.
      return isSimpleList(value) ? [keyword, value] : ['exactEnum', value]
    default:
      return [keyword, typeof value === 'bigint' ? Number(value) : value]
  }
}

function isSimpleList(value: unknown): boolean {
  return Array.isArray(value) && value.length <= simpleMax && value.every(isSimple)
}

function isSimple(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'boolean'
}

function memberOf(values: readonly unknown[]): (value: unknown) => boolean {
  const texts = new Set(values.map(canonical))
  return (value) => texts.has(canonical(value))
}

/** Returns the same text for equal values, whether from the document or from json/decode.ts. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical)}]`
  if (isSchema(value)) {
    const members = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`)
    return `{${members.sort()}}`
  }
  return Number.isInteger(value) && Math.abs(value as number) < exactMax ? `${BigInt(value as number)}` : toJson(value)
}

/** Exact for decimal fractions, such as prices: 19.99 is a multiple of 0.01. */
function multipleOf(divisor: number | bigint): (value: unknown) => boolean {
  const [step, stepScale] = toDecimal(divisor)
  return (value) => {
    if (typeof value !== 'bigint' && typeof value !== 'number') return true
    const [digits, scale] = toDecimal(value)
    const most = Math.max(scale, stepScale)
    return (digits * 10n ** BigInt(most - scale)) % (step * 10n ** BigInt(most - stepScale)) === 0n
  }
}

/** The digits of a number, and how many of them follow the decimal point. */
function toDecimal(value: number | bigint): readonly [digits: bigint, scale: number] {
  const [, whole = '0', fraction = '', exponent = '0'] =
    /^(-?\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(String(value)) ?? []
  const scale = fraction.length - Number(exponent)
  return scale >= 0 ? [BigInt(whole + fraction), scale] : [BigInt(whole + fraction) * 10n ** BigInt(-scale), 0]
}

function exactOf(schema: Schema, types: readonly string[]): Exact {
  if (schema['format'] === 'int32')
    return exactOf({ minimum: -(2 ** 31), maximum: 2 ** 31 - 1, ...schema, format: '' }, types)
  const bounded = bounds.filter((bound) => schema[bound] !== undefined)
  const texts = bounded.map((bound) => [bound, typeof schema[bound] === 'bigint' ? `${schema[bound]}` : schema[bound]])
  return { types, isInt64: schema['format'] === 'int64', ...Object.fromEntries(texts) }
}

/** Ajv ignores a property named `__proto__`, but not a pattern that matches only this name. */
function keepProto(schema: Schema): Schema {
  const properties = schema['properties']
  if (!isSchema(properties) || !Object.hasOwn(properties, proto)) return schema
  const patterns = (schema['patternProperties'] ?? {}) as Schema
  return { ...schema, patternProperties: { ...patterns, [`^${proto}$`]: properties[proto] } }
}
