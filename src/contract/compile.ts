// Compiles schemas with Ajv: the bundled document's in `npm run generate`, and those of a user's document at startup.
// That one is not trusted: neither a pattern nor a recursive schema may take a time that grows faster than the value.

import { _, type KeywordCxt, Name, stringify } from 'ajv'
import { Ajv2020, type Options } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { RE2JS } from 're2js'
import { AppError, messageOf, OperatorError } from '../domain/errors.ts'
import { areUnique, canonical, type Exact, isExact, isMultiple, isWellFormed } from './exact.ts'
import { isObject, mapSchema, mapValues, propertiesOf, type Schema } from './schemas.ts'
import { explain, type Validator } from './validate.ts'

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
  return ajv.addSchema({ components: { schemas: mapValues(schemas, forAjv) } }, documentName)
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

/** Converts a schema for `createAjv`. The type and bounds of a number become one keyword, `exact`. */
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
  if (!isObject(properties) || !Object.hasOwn(properties, proto)) return schema
  const patterns = (schema['patternProperties'] ?? {}) as Schema
  return { ...schema, patternProperties: { ...patterns, [`^${proto}$`]: properties[proto] } }
}

/** How often a schema may be applied within one plant: enough for several on each item of an array of 64 KiB. */
const judgedMax = 300_000
/** Limit for one match: characters of the text, times steps of the pattern. */
const matchedMax = 20_000_000
const undeclaredShown = 5
const newPlant = { $ref: '#/components/schemas/NewPlant' }

/** Compiles the schema NewPlant. The validator reports the first fault. Throws OperatorError if it is invalid. */
export function compilePlant(document: Schema): Validator {
  const { schemas } = document['components'] as { readonly schemas: Schema }
  let judged = 0
  const counted = mapValues(schemas, (schema) => mapSchema(schema, (each) => ({ isCounted: true, ...each })))
  const ajv = createAjv({ components: { schemas: counted } }, options)
  ajv.addKeyword({
    keyword: 'isCounted',
    validate: () => {
      judged += 1
      if (judged > judgedMax) throw new AppError('invalidPlant', 'the plant is too complex to validate')
      return true
    },
  })
  const declared = new Set(propertiesOf(document, newPlant).map(({ name }) => name))
  const validate = compile(ajv, newPlant)
  return (value) => {
    judged = 0
    const wrong = validate(value)
    if (wrong !== undefined) return wrong
    const others = Object.keys(value as object).filter((name) => !declared.has(name))
    if (others.length === 0) return undefined
    // The properties that are kept must be valid without the others.
    const kept = Object.entries(value as object).filter(([name]) => declared.has(name))
    const missing = validate(Object.fromEntries(kept))
    return missing && `${missing}; the document does not declare ${others.slice(0, undeclaredShown).join(', ')}`
  }
}

function compile(ajv: Ajv2020, schema: Schema): Validator {
  try {
    return explain(ajv.compile(forAjv(schema) as Schema), 'the plant')
  } catch (cause) {
    throw cause instanceof RangeError ? cause : new OperatorError(messageOf(cause), { cause })
  }
}

/** Compiles a regular expression that matches in linear time; JavaScript's own may take exponential time. */
function linear(pattern: string): { readonly test: (text: string) => boolean; readonly toString: () => string } {
  // Throws for an invalid pattern.
  new RegExp(pattern, 'u')
  // RE2 reads the escapes of a surrogate pair as two characters.
  const paired = pattern.replaceAll(/\\(?:u(d[89ab]\w\w)\\u(d[c-f]\w\w)|.)/gis, (whole, high, low) =>
    high === undefined ? whole : String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)),
  )
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(paired))
    if (pattern.includes('\\k<')) throw new Error('there is a back-reference')
    const steps = compiled.programSize()
    const test = (text: string): boolean => {
      if (text.length * steps <= matchedMax) return compiled.matcher(text).find()
      throw new AppError('invalidPlant', `a text of ${text.length} characters is too long for its pattern`)
    }
    // Ajv compares patterns by this text.
    return { test, toString: () => pattern }
  } catch (cause) {
    const why = `${messageOf(cause)}; patterns are matched by RE2, which has no lookaround and no back-references`
    throw new OperatorError(`pattern ${JSON.stringify(pattern)}: ${why}`, { cause })
  }
}
linear.code = 'linear'

const code = {
  regExp: linear,
  /** The time to optimize grows with the square of the properties, and makes a validator no faster. */
  optimize: false,
  /** V8 compiles a function in parentheses at once: thousands of properties fail at the start, not at the first plant. */
  process: (source: string) => `${source.replace('return function', 'return (function')})`,
}
const options = { allErrors: false, strict: false, logger: false, inlineRefs: false, code } as const
