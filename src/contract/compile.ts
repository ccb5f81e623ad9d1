// Compiles schemas with Ajv: the bundled document's in `npm run generate`, and those of a user's document at startup.

import { _, type KeywordCxt, Name, stringify } from 'ajv'
import { Ajv2020, type Options } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { areUnique, canonical, type Exact, isExact, isMultiple, isWellFormed } from './exact.ts'
import { isSchema, mapSchema, type Schema } from './schemas.ts'

/** The name by which Ajv finds the document that references point into. */
const documentName = 'openapi.json'
const checks = { exact: isExact, multipleOf: isMultiple, uniqueItems: areUnique, 'x-wellFormed': isWellFormed }

/**
 * Creates an Ajv for values of json/decode.ts, and for schemas converted by `forAjv`.
 *
 * @param document schemas compiled later may refer to its `components.schemas`.
 */
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
  const replace = (keyword: string, code: (context: KeywordCxt) => void) =>
    ajv.removeKeyword(keyword).addKeyword({ keyword, code })
  for (const [keyword, check] of Object.entries(checks)) {
    replace(keyword, (context) => {
      context.pass(_`${functionIn(context, check)}(${context.data}, ${context.schemaValue})`)
    })
  }
  for (const keyword of ['const', 'enum']) {
    replace(keyword, (context) => {
      const texts = (keyword === 'enum' ? context.schema : [context.schema]).map(canonical)
      const set = context.gen.scopeValue('obj', { ref: new Set(texts), code: _`new Set(${stringify(texts)})` })
      context.pass(_`${set}.has(${functionIn(context, canonical)}(${context.data}))`)
    })
  }
  const schemas = (document['components'] as Schema | undefined)?.['schemas'] ?? {}
  const converted = Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, forAjv(schema)]))
  return ajv.addSchema({ components: { schemas: converted } }, documentName)
}

/** The name of a function of exact.ts, which compiled.ts imports. */
function functionIn({ gen }: KeywordCxt, called: { readonly name: string }): Name {
  return gen.scopeValue('func', { ref: called, code: _`${new Name(called.name)}` })
}

const bounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const
const proto = '__proto__'
const numericFormats = ['int32', 'int64', 'float', 'double']
/** Keywords that do not validate, or to which Ajv gives a meaning that JSON Schema does not. */
const annotations = new Set([
  ...['title', 'description', 'default', 'example', 'examples', 'deprecated', '$comment', 'nullable'],
])

/**
 * Converts a schema for `createAjv`. References lead into the document. The type and bounds of a number become one
 * keyword, `exact`.
 */
export function forAjv(schema: unknown): unknown {
  return mapSchema(schema, (each) => {
    const types = typesOf(each)
    const isNumeric = types.some((type) => type === 'integer' || type === 'number')
    const replaced = new Set<string>(isNumeric ? ['type', ...bounds] : bounds)
    if (numericFormats.includes(String(each['format']))) replaced.add('format')
    const kept = Object.entries(each)
      .filter(([keyword]) => !replaced.has(keyword) && !annotations.has(keyword))
      // Ajv takes no bigint as the limit of a length.
      .map(([keyword, value]) => [keyword, /^(?:min|max)/.test(keyword) ? Number(value) : value])
    return keepProto({
      ...Object.fromEntries(kept),
      ...('$ref' in each && { $ref: `${documentName}${each['$ref']}` }),
      ...(isNumeric && { exact: exactOf(each, types) }),
    })
  })
}

/** Bounds without a type allow every value that is not a number. */
function typesOf({ type, format, ...others }: Schema): readonly string[] {
  if (type !== undefined) return (Array.isArray(type) ? type : [type]) as readonly string[]
  const isBounded = bounds.some((bound) => Object.hasOwn(others, bound)) || numericFormats.includes(String(format))
  return isBounded ? ['number', 'string', 'boolean', 'null', 'array', 'object'] : []
}

function exactOf(schema: Schema, types: readonly string[]): Exact {
  const { format } = schema
  const bounded = bounds.filter((bound) => schema[bound] !== undefined)
  const texts = bounded.map((bound) => [bound, typeof schema[bound] === 'bigint' ? `${schema[bound]}` : schema[bound]])
  return { types, ...((format === 'int32' || format === 'int64') && { format }), ...Object.fromEntries(texts) }
}

/** Ajv ignores a property named `__proto__`, but not a pattern that matches only this name. */
function keepProto(schema: Schema): Schema {
  const properties = schema['properties']
  if (!isSchema(properties) || !Object.hasOwn(properties, proto)) return schema
  const patterns = (schema['patternProperties'] ?? {}) as Schema
  return { ...schema, patternProperties: { ...patterns, [`^${proto}$`]: properties[proto] } }
}
