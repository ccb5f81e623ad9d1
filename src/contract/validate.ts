// Compiles schemas of the contract to validators whose failures are sentences about the very value that came.

import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { int64Max, int64Min } from '../domain/plant.ts'
import type { Schema } from './document.ts'

/**
 * Says what is wrong with a value, or nothing when it is valid. Values come from json/decode.ts or are header texts;
 * an int64 is a bigint.
 */
export type Validator = (value: unknown) => string | undefined

const shownCharactersMax = 60

/**
 * @param subject what the value is called in messages when the value as a whole is wrong, as in `the body`.
 */
export function compileValidator(schema: Schema, subject: string): Validator {
  const validate = createAjv(isInt64).compile(useInt64Keyword(schema) as Schema)
  return (value) => (validate(value) ? undefined : describeAll(validate, subject))
}

/** The same for the body of an answer, of which a value may also be a bigint where the schema has another integer. */
export function compileAnswerValidator(schema: Schema, subject: string): Validator {
  const validate = createAjv((value) => isInt64(value) || Number.isSafeInteger(value)).compile(
    useInt64Keyword(schema) as Schema,
  )
  return (value) => (validate(useNumbers(value)) ? undefined : describeAll(validate, subject))
}

function isInt64(value: unknown): boolean {
  return typeof value === 'bigint' && value >= int64Min && value <= int64Max
}

/** Replaces each bigint that a number has exactly, all through a value: Ajv's own keywords know no bigint. */
function useNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
  if (Array.isArray(value)) return value.map(useNumbers)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, useNumbers(item)]))
}

/** @param isInt64 what the keyword `int64` takes. */
function createAjv(isInt64: (value: unknown) => boolean): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    ownProperties: true,
    formats: { int32: true },
    // To compile the schema of schemas takes longer than all else at a start; the tests hold the document to it.
    meta: false,
    validateSchema: false,
    keywords: ['example', 'x-meaning'],
  })
  // Ajv's own `type: integer` and its bounds look only at JavaScript numbers, so this keyword does all of an int64.
  ajv.addKeyword({
    keyword: 'int64',
    schemaType: 'boolean',
    validate: (_wanted: boolean, value: unknown) => isInt64(value),
    errors: false,
  })
  // A text without unpaired surrogates, for which there is no pattern that every engine of regular expressions takes.
  return ajv.addKeyword({
    keyword: 'x-wellFormed',
    type: 'string',
    schemaType: 'boolean',
    validate: (wanted: boolean, text: string) => !wanted || text.isWellFormed(),
    errors: false,
  })
}

/** Replaces `type: integer, format: int64` by the keyword `int64`, all through a schema. */
function useInt64Keyword(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(useInt64Keyword)
  if (typeof schema !== 'object' || schema === null) return schema
  const entries = Object.entries(schema)
  const isInt64 = entries.some(([keyword, value]) => keyword === 'format' && value === 'int64')
  return Object.fromEntries([
    ...entries
      .filter(([keyword]) => !(isInt64 && ['type', 'format', 'examples'].includes(keyword)))
      .map(([keyword, value]) => [keyword, useInt64Keyword(value)]),
    ...(isInt64 ? [['int64', true]] : []),
  ])
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

/** What the schema says of its own pattern, for people. */
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

/** json/decode.ts gives an exact integer as a bigint, so a number that looks like one was rounded. */
function showNumber(value: number): string {
  if (!Number.isInteger(value)) return Number.isFinite(value) ? String(value) : 'a number too large to show'
  return Math.abs(value) < 1e40 ? 'a number with a fraction' : 'a number too large to show'
}

/** A value as it may stand in a message: short, on one line, and with nothing that a terminal would obey. */
function show(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value === 'number') return showNumber(value)
  if (typeof value !== 'string') return String(value)
  const shown = value.length > shownCharactersMax ? `${value.slice(0, shownCharactersMax)}...` : value
  return JSON.stringify(shown).replaceAll(/[\u007f-\u009f]/g, (control) => `\\u00${control.charCodeAt(0).toString(16)}`)
}
