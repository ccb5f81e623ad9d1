// Describes violations of a schema in sentences about the actual value.

import type { ErrorObject, ValidateFunction } from 'ajv'
import { type Exact, integerFormats } from './exact.ts'

/** Says what is wrong with a value of json/decode.ts or of a header; undefined if it is valid. An int64 is a bigint. */
export type Validator = (value: unknown) => string | undefined

const shownCharactersMax = 60
const describedMax = 20
const examplesOfFormats = new Map(Object.entries({ date: '2026-01-31', 'date-time': '2026-01-31T12:00:00Z' }))

/** @param subject the name of the whole value in messages, such as `the plant`. */
export function explain(validate: ValidateFunction, subject: string): Validator {
  return (value) => {
    if (validate(value)) return undefined
    const errors = validate.errors ?? []
    const described = errors.slice(0, describedMax).map((error) => describe(error, subject))
    return [...new Set(described), ...(errors.length > describedMax ? ['and more'] : [])].join('; ')
  }
}

function describe(error: ErrorObject, subject: string): string {
  const path = error.instancePath.slice(1).replaceAll('/', '.')
  const field = path === '' ? subject : path.replaceAll('~1', '/').replaceAll('~0', '~')
  const within = path === '' ? '' : `${field}.`
  const got = `, got ${show(error.data)}`
  switch (error.keyword) {
    case 'required':
      return `${within}${error.params['missingProperty']}: is missing`
    case 'enum':
    case 'const':
      return `${field}: must be ${oneOf(error.keyword === 'enum' ? (error.schema as []) : [error.schema])}${got}`
    case 'multipleOf':
      return `${field}: must be a multiple of ${error.schema}${got}`
    case 'uniqueItems':
      return `${field}: must have no equal items`
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `${within}${error.params['additionalProperty'] ?? error.params['unevaluatedProperty']}: is not allowed`
    case 'exact':
      return `${field}: must be ${describeExact(error.schema as Exact)}${got}`
    case 'type':
      return `${field}: must be ${[error.params['type']].flat().map(withArticle).join(' or ')}${got}`
    case 'minLength':
      return `${field}: must have at least ${count(error.params['limit'])}`
    case 'maxLength':
      return `${field}: must have at most ${count(error.params['limit'])}, got ${[...String(error.data)].length}`
    case 'format': {
      const example = examplesOfFormats.get(error.params['format'])
      return `${field}: ${error.message}${example === undefined ? '' : `, such as ${example}`}${got}`
    }
    case 'pattern':
    case 'x-wellFormed':
      return `${field}: ${meaning(error) ?? `${error.message}${got}`}`
    default:
      return `${field}: ${error.message}${got}`
  }
}

function oneOf(values: readonly unknown[]): string {
  if (values.length === 0) return 'absent'
  const more = values.length - describedMax
  return [
    ...values.slice(0, describedMax).map((each) => (typeof each === 'number' ? String(each) : show(each))),
    ...(more > 0 ? [`one of ${more} others`] : []),
  ].join(' or ')
}

function describeExact({ types, format, ...schema }: Exact): string {
  const { exclusiveMinimum, exclusiveMaximum } = schema
  const [leastOfFormat, mostOfFormat] = format ? integerFormats[format] : []
  const { minimum: least = leastOfFormat, maximum: most = mostOfFormat } = schema
  const bounds = [
    least !== undefined && most !== undefined && `from ${least} to ${most}`,
    least !== undefined && most === undefined && `of at least ${least}`,
    least === undefined && most !== undefined && `of at most ${most}`,
    exclusiveMinimum !== undefined && `greater than ${exclusiveMinimum}`,
    exclusiveMaximum !== undefined && `less than ${exclusiveMaximum}`,
  ].filter((bound) => bound !== false)
  const others = types.filter((type) => type !== 'integer' && type !== 'number').map(withArticle)
  const number = withArticle(types.includes('number') && !format ? 'number' : 'integer')
  return [`${number}${bounds.map((bound) => ` ${bound}`).join(' and')}`, ...others].join(' or ')
}

function meaning(error: ErrorObject): string | undefined {
  const text: unknown = error.parentSchema?.['x-meaning']
  return typeof text === 'string' ? text : undefined
}

function count(limit: unknown): string {
  return `${limit} character${limit === 1 ? '' : 's'}`
}

function withArticle(type: string): string {
  if (type === 'null') return type
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`
}

/** json/decode.ts decodes exact integers as bigints, so a number without a fraction was rounded. */
function showNumber(value: number): string {
  if (!Number.isInteger(value)) return Number.isFinite(value) ? String(value) : 'a number too large for a double'
  return Math.abs(value) < 1e40 ? 'a number with a fraction' : 'a number of more than 40 digits'
}

/** Formats a value for a message: short, on one line, without control characters. */
function show(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value === 'number') return showNumber(value)
  if (typeof value !== 'string') return String(value)
  const shown = value.length > shownCharactersMax ? `${value.slice(0, shownCharactersMax)}...` : value
  return JSON.stringify(shown).replaceAll(/[\u007f-\u009f]/g, (control) => `\\u00${control.charCodeAt(0).toString(16)}`)
}
