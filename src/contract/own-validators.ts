// Validators of a document of one's own, compiled at the start. The document may be anybody's: neither a pattern nor a
// schema that contains itself takes a time that grows faster than the value.

import { Ajv2020 } from 'ajv/dist/2020.js'
import { RE2JS } from 're2js'
import { AppError, messageOf, OperatorError } from '../domain/errors.ts'
import { canonical, compileValidator, createAjv } from './compile.ts'
import { toJson } from './plant.ts'
import { mapSchema, propertiesOf, type Schema } from './schemas.ts'
import type { Validator } from './validate.ts'

/** How often values within a plant may be judged by a schema: each item of an array of 64 KiB, by several. */
const judgedMax = 300_000
/** Characters of a text times the steps of its pattern, in one match. */
const matchedMax = 20_000_000
const undeclaredShown = 5
const newPlant = { $ref: '#/components/schemas/NewPlant' }

/**
 * Compiles the schema NewPlant of a document. It finds the first thing that is wrong with a plant.
 *
 * @returns a function that takes the name of the value in messages.
 * @throws OperatorError if the schema is none.
 */
export function compilePlant(document: Schema): (subject: string) => Validator {
  const { schemas } = document['components'] as { readonly schemas: Schema }
  assertSchemas(schemas)
  let judged = 0
  const count = (schema: unknown): unknown => mapSchema(schema, (each) => ({ isCounted: true, ...each }))
  const counted = Object.entries(schemas).map(([name, schema]) => [name, count(schema)])
  const ajv = createAjv({ components: { schemas: Object.fromEntries(counted) } }, options)
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', validate: areUnique })
  ajv.addKeyword({
    keyword: 'isCounted',
    validate: () => {
      judged += 1
      if (judged > judgedMax) throw new AppError('invalidPlant', 'the plant is too complex to validate')
      return true
    },
  })
  const declared = new Set(propertiesOf(document, newPlant).map(({ name }) => name))
  const compile = (subject: string): Validator => {
    const validate = compileValidator(ajv, newPlant, subject)
    return (value) => {
      judged = 0
      const wrong = validate(value)
      if (wrong !== undefined) return wrong
      const others = Object.keys(value as object).filter((name) => !declared.has(name))
      if (others.length === 0) return undefined
      // What is kept has to be valid, too.
      const kept = Object.entries(value as object).filter(([name]) => declared.has(name))
      const missing = validate(Object.fromEntries(kept))
      return missing && `${missing}; the document does not declare ${others.slice(0, undeclaredShown).join(', ')}`
    }
  }
  try {
    compile('the plant')
  } catch (cause) {
    throw cause instanceof RangeError ? cause : new OperatorError(messageOf(cause), { cause })
  }
  return compile
}

/** Of what Ajv would take for granted, or fail at without a word. */
function assertSchemas(schemas: Schema): void {
  const ajv = new Ajv2020({ strict: false, logger: false })
  // The meta-schema knows no bigints.
  if (ajv.validateSchema({ $defs: JSON.parse(toJson(schemas)) }) === true) return
  const { instancePath, message, params } = ajv.errors?.[0] ?? {}
  const allowed: readonly string[] | undefined = params?.['allowedValues']
  const place = `components/schemas${(instancePath ?? '').replace('/$defs', '')}`
  throw new OperatorError(`${place} ${message}${allowed === undefined ? '' : `: ${allowed.join(', ')}`}`)
}

/** A regular expression in linear time; JavaScript's own may take for ever. */
function linear(pattern: string): { readonly test: (text: string) => boolean; readonly toString: () => string } {
  // Throws for what is none.
  new RegExp(pattern, 'u')
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
    if (pattern.includes('\\k<')) throw new Error('there is a back-reference')
    const steps = compiled.programSize()
    const test = (text: string): boolean => {
      if (text.length * steps <= matchedMax) return compiled.matcher(text).find()
      throw new AppError('invalidPlant', `a text of ${text.length} characters is too long for its pattern`)
    }
    // Ajv takes patterns of the same text for one.
    return { test, toString: () => pattern }
  } catch (cause) {
    const why = `${messageOf(cause)}; patterns are matched by RE2, which has no lookaround and no back-references`
    throw new OperatorError(`pattern ${JSON.stringify(pattern)}: ${why}`, { cause })
  }
}
linear.code = 'linear'

const options = { allErrors: false, strict: false, logger: false, inlineRefs: false, code: { regExp: linear } } as const

/** In a time that grows with their length only. */
function areUnique(isWanted: boolean, items: readonly unknown[]): boolean {
  return !isWanted || new Set(items.map(canonical)).size === items.length
}
