// Validators of a document of one's own, compiled at the start. The document may be anybody's: neither a pattern nor a
// schema that contains itself takes a time that grows faster than the value.

import { Ajv2020 } from 'ajv/dist/2020.js'
import { RE2JS } from 're2js'
import { AppError, messageOf, OperatorError } from '../domain/errors.ts'
import { compileValidator, createAjv } from './compile.ts'
import { isSchema, type Schema } from './schemas.ts'
import type { Validator } from './validate.ts'

/** Schemas that one value may be judged by. */
const judgedMax = 50_000

/**
 * Compiles the schema NewPlant of a document.
 *
 * @returns a function that takes the name of the value in messages.
 * @throws OperatorError if the schema is none.
 */
export function compilePlant({ components }: Schema): (subject: string) => Validator {
  const { schemas } = components as { readonly schemas: Schema }
  assertSchemas(schemas)
  let judged = 0
  const counted = Object.entries(schemas).map(([name, schema]) => [name, { ...(schema as Schema), isCounted: true }])
  const document = { components: { schemas: Object.fromEntries(counted) } }
  const ajv = createAjv(document, { strict: false, logger: false, code: { regExp: linear } })
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
  const compile = (subject: string): Validator => {
    const validate = compileValidator(ajv, { $ref: '#/components/schemas/NewPlant' }, subject)
    return (value) => {
      judged = 0
      return validate(value)
    }
  }
  try {
    compile('the plant')
  } catch (cause) {
    throw new OperatorError(messageOf(cause), { cause })
  }
  return compile
}

/** Of what Ajv would take for granted, or fail at without a word. */
function assertSchemas(schemas: Schema): void {
  const ajv = new Ajv2020({ strict: false, logger: false })
  if (ajv.validateSchema({ $defs: withNumbers(schemas) as Schema }) === true) return
  const { instancePath, message } = ajv.errors?.[0] ?? {}
  throw new OperatorError(`components/schemas${(instancePath ?? '').replace('/$defs', '')} ${message}`)
}

/** The meta-schema knows no bigints. */
function withNumbers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withNumbers)
  if (isSchema(value)) return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withNumbers(each)]))
  return typeof value === 'bigint' ? Number(value) : value
}

/** A regular expression in linear time; JavaScript's own may take for ever. */
function linear(pattern: string): { readonly test: (text: string) => boolean; readonly toString: () => string } {
  // Throws for what is none.
  new RegExp(pattern, 'u')
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
    // Ajv takes patterns of the same text for one.
    return { test: (text) => compiled.matcher(text).find(), toString: () => pattern }
  } catch (cause) {
    const why = `${messageOf(cause)}; patterns are matched by RE2, which takes no lookaround and no back-references`
    throw new OperatorError(`pattern ${JSON.stringify(pattern)}: ${why}`, { cause })
  }
}
linear.code = 'linear'

/** In a time that grows with their length only. */
function areUnique(isWanted: boolean, items: readonly unknown[]): boolean {
  return !isWanted || new Set(items.map(canonical)).size === items.length
}

/** The same text for equal values. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each) => {
    if (typeof each === 'bigint') return { integer: String(each) }
    return isSchema(each) ? Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1)) : each
  })
}
