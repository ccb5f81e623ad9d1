// Describes schema violations in sentences about the actual value.

import type { ErrorObject, ValidateFunction } from 'ajv'
import { int64Max, int64Min } from '../domain/plant.ts'

/**
 * Describes what is wrong with a value; returns undefined if it is valid. Values come from json/decode.ts or from
 * headers; an int64 is a bigint.
 */
export type Validator = (value: unknown) => string | undefined

const shownCharactersMax = 60

/**
 * Wraps a compiled schema as a Validator.
 *
 * @param subject the name of the whole value in messages, such as `the body`.
 */
export function explain(validate: ValidateFunction, subject: string): Validator {
  return (value) => (validate(value) ? undefined : describeAll(validate, subject))
}

function describeAll(validate: ValidateFunction, subject: string): string {
  return [...new Set((validate.errors ?? []).map((error) => describe(error, subject)))].join('; ')
}

function describe(error: ErrorObject, subject: string): string {
  const field = error.instancePath.slice(1).replaceAll('/', '.') || subject
  const got = `, got ${show(error.data)}`
  switch (error.keyword) {
    case 'required':
      return `${error.params['missingProperty']}: is missing`
    case 'int64':
      return `${field}: must be an integer from ${int64Min} to ${int64Max}${got}`
    case 'type':
      if (error.parentSchema?.['minimum'] !== undefined) return `${field}: must be ${bounds(error)}${got}`
      return `${field}: must be ${withArticle(String(error.params['type']))}${got}`
    case 'minimum':
    case 'maximum':
      return `${field}: must be ${bounds(error)}, got ${error.data}`
    case 'minLength':
      return `${field}: must have at least ${count(error.params['limit'])}`
    case 'maxLength':
      return `${field}: must have at most ${count(error.params['limit'])}, got ${[...String(error.data)].length}`
    case 'pattern':
    case 'x-wellFormed':
      return `${field}: ${meaning(error) ?? `${error.message}${got}`}`
    default:
      return `${field}: ${error.message}${got}`
  }
}

function bounds({ parentSchema }: ErrorObject): string {
  return `an integer from ${parentSchema?.['minimum']} to ${parentSchema?.['maximum']}`
}

/** The schema's description of its pattern. */
function meaning(error: ErrorObject): string | undefined {
  const text: unknown = error.parentSchema?.['x-meaning']
  return typeof text === 'string' ? text : undefined
}

function count(limit: unknown): string {
  return `${limit} character${limit === 1 ? '' : 's'}`
}

function withArticle(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`
}

/** json/decode.ts decodes exact integers as bigints, so an integral number was rounded. */
function showNumber(value: number): string {
  if (!Number.isInteger(value)) return Number.isFinite(value) ? String(value) : 'a number too large to show'
  return Math.abs(value) < 1e40 ? 'a number with a fraction' : 'a number too large to show'
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
