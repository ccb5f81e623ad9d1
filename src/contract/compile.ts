// Compiles schemas with Ajv: the document's for `npm run generate`, those of a document of one's own at the start, and
// those of responses for `plantstore verify`.

import { isDeepStrictEqual } from 'node:util'
import { _, type Code, type Name } from 'ajv'
import { Ajv2020, type Options } from 'ajv/dist/2020.js'
import { or } from 'ajv/dist/compile/codegen/index.js'
import addFormats from 'ajv-formats'
import { isSchema, mapSchema, type Schema } from './schemas.ts'
import { type Exact, explain, type Validator } from './validate.ts'

/** The name under which Ajv knows the schemas of the document. */
const documentName = 'openapi.json'

/** @param subject the name of the whole value in messages, such as `the body`. */
export function compileValidator(ajv: Ajv2020, schema: Schema, subject: string): Validator {
  return explain(ajv.compile(forAjv(schema) as Schema), subject)
}

/** @param document its `components.schemas` are known to the schemas that Ajv compiles then. */
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
    code: (context) => context.pass(isExact(context.data, context.schema)),
  })
  ajv.addKeyword({ keyword: 'exactlyOneOf', validate: isOneOf })
  ajv.addKeyword({ keyword: 'exactMultipleOf', validate: isMultipleOf })
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
type Bound = (typeof bounds)[number]
const annotations = new Set(['title', 'description', 'default', 'example', 'examples', 'deprecated', '$comment'])

/**
 * Converts a schema for `createAjv`. References lead into the document. What the schema says of numbers becomes keywords
 * that take an integer as json/decode.ts gives it, as a bigint; Ajv's own do not take one.
 */
export function forAjv(schema: unknown): unknown {
  return mapSchema(schema, (each) => {
    const types = typesOf(each)
    const isNumeric = types.some((type) => type === 'integer' || type === 'number')
    const replaced = new Set<string>(isNumeric ? ['type', 'format', ...bounds] : bounds)
    const kept = Object.entries(each)
      .filter(([keyword]) => !replaced.has(keyword) && !annotations.has(keyword))
      .map(([keyword, value]) => convert(keyword, value))
    return keepProto({ ...Object.fromEntries(kept), ...(isNumeric && { exact: exactOf(each, types) }) })
  })
}

/** Bounds without a type say nothing of other values than numbers. */
function typesOf({ type, format, ...others }: Schema): readonly string[] {
  if (type !== undefined) return (Array.isArray(type) ? type : [type]) as readonly string[]
  if (format === 'int64') return ['integer']
  return bounds.some((bound) => Object.hasOwn(others, bound))
    ? ['number', 'string', 'boolean', 'null', 'array', 'object']
    : []
}

function convert(keyword: string, value: unknown): readonly [string, unknown] {
  switch (keyword) {
    case '$ref':
      return [keyword, `${documentName}${value}`]
    case 'multipleOf':
      return ['exactMultipleOf', value]
    case 'const':
      return convert('enum', [value])
    case 'enum': {
      const exact = toDecoded(value) as readonly unknown[]
      const isSimple = exact.every((each) => each === null || typeof each === 'string' || typeof each === 'boolean')
      return [isSimple ? 'enum' : 'exactlyOneOf', exact]
    }
    default:
      return [keyword, value]
  }
}

/** A value of the document as json/decode.ts would give it. */
function toDecoded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toDecoded)
  if (isSchema(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toDecoded(item)]))
  return Number.isInteger(value) ? BigInt(value as number) : value
}

function isOneOf(values: readonly unknown[], value: unknown): boolean {
  return values.some((each) => isDeepStrictEqual(each, value))
}

function isMultipleOf(divisor: number | bigint, value: unknown): boolean {
  if (typeof value === 'bigint' && Number.isInteger(Number(divisor))) return value % BigInt(divisor) === 0n
  return (typeof value !== 'bigint' && typeof value !== 'number') || Number.isInteger(Number(value) / Number(divisor))
}

function exactOf(schema: Schema, types: readonly string[]): Exact {
  const bounded = bounds.filter((bound) => schema[bound] !== undefined)
  const texts = bounded.map((bound) => [bound, typeof schema[bound] === 'bigint' ? `${schema[bound]}` : schema[bound]])
  return { types, isInt64: schema['format'] === 'int64', ...Object.fromEntries(texts) }
}

/** Ajv ignores a property of this name, but not a pattern of it. */
function keepProto(schema: Schema): Schema {
  const properties = schema['properties']
  if (!isSchema(properties) || !Object.hasOwn(properties, proto)) return schema
  const patterns = (schema['patternProperties'] ?? {}) as Schema
  return { ...schema, patternProperties: { ...patterns, [`^${proto}$`]: properties[proto] } }
}

function isExact(value: Name, { types, isInt64, ...bounded }: Exact): Code {
  const limits = Object.entries(bounded).map(([bound, limit]) => inBound(value, bound as Bound, limit))
  const isNumber = limits.reduce((all, limit) => _`${all} && ${limit}`, numberOf(value, types, isInt64))
  const others = types.filter((type) => type !== 'integer' && type !== 'number')
  return or(isNumber, ...others.map((type) => isOfType(value, type)))
}

/** JavaScript compares a bigint and a number exactly. */
function inBound(value: Name, bound: Bound, limit: number | string): Code {
  const exact = typeof limit === 'string' ? _`BigInt(${limit})` : _`${limit}`
  switch (bound) {
    case 'minimum':
      return _`${value} >= ${exact}`
    case 'maximum':
      return _`${value} <= ${exact}`
    case 'exclusiveMinimum':
      return _`${value} > ${exact}`
    case 'exclusiveMaximum':
      return _`${value} < ${exact}`
  }
}

function numberOf(value: Name, types: readonly string[], isInt64: boolean): Code {
  const isInteger = _`typeof ${value} === "bigint"`
  if (isInt64) return _`${isInteger} && ${value} >= -9223372036854775808n && ${value} <= 9223372036854775807n`
  return types.includes('number') ? _`(${isInteger} || Number.isFinite(${value}))` : isInteger
}

function isOfType(value: Name, type: string): Code {
  switch (type) {
    case 'null':
      return _`${value} === null`
    case 'array':
      return _`Array.isArray(${value})`
    case 'object':
      return _`(typeof ${value} === "object" && ${value} !== null && !Array.isArray(${value}))`
    default:
      return _`typeof ${value} === ${type}`
  }
}
