// Validators for a user's document, compiled at startup. The document is not trusted: neither a pattern nor a recursive
// schema may take a time that grows faster than the value.

import type { Ajv2020 } from 'ajv/dist/2020.js'
import { RE2JS } from 're2js'
import { AppError, messageOf, OperatorError } from '../domain/errors.ts'
import { createAjv, forAjv } from './compile.ts'
import { mapSchema, mapValues, propertiesOf, type Schema } from './schemas.ts'
import { explain, type Validator } from './validate.ts'

/** How often a schema may be applied within one plant: enough for several on each item of an array of 64 KiB. */
const judgedMax = 300_000
/** Limit for one match: characters of the text, times steps of the pattern. */
const matchedMax = 20_000_000
const undeclaredShown = 5
const newPlant = { $ref: '#/components/schemas/NewPlant' }

/**
 * Compiles the schema NewPlant of a document. The validator reports the first fault of a plant.
 *
 * @throws OperatorError if it is not a valid schema.
 */
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
