// Compiles schemas with Ajv: request schemas for `npm run generate`, response schemas for `plantstore verify`.

import { _, type Code, type Name } from 'ajv'
import { Ajv2020, type CodeOptions } from 'ajv/dist/2020.js'
import type { Schema } from './document.ts'
import { explain, type Validator } from './validate.ts'

/**
 * Compiles a validator for response bodies. It accepts a bigint for any integer of the schema.
 *
 * @param subject the name of the whole value in messages, such as `the body`.
 */
export function compileAnswerValidator(schema: Schema, subject: string): Validator {
  const validate = createAjv((value) => _`${isInt64(value)} || Number.isSafeInteger(${value})`).compile(forAjv(schema))
  const explained = explain(validate, subject)
  return (value) => explained(useNumbers(value))
}

/** @param int64Of generates the condition of the keyword `int64`. */
export function createAjv(int64Of: (value: Name) => Code = isInt64, code: CodeOptions = {}): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    ownProperties: true,
    formats: { int32: true },
    // The tests validate the document against the meta-schema.
    meta: false,
    validateSchema: false,
    keywords: ['example', 'x-meaning'],
    code,
  })
  // Ajv's `type: integer` and its bounds ignore bigints, so this keyword checks all of an int64.
  ajv.addKeyword({
    keyword: 'int64',
    schemaType: 'boolean',
    code: (context) => context.pass(int64Of(context.data)),
  })
  // No pattern for text without unpaired surrogates works in every regular expression engine.
  return ajv.addKeyword({
    keyword: 'x-wellFormed',
    type: 'string',
    schemaType: 'boolean',
    code: (context) => context.pass(context.schema ? _`${context.data}.isWellFormed()` : _`true`),
  })
}

/** Converts a schema for `createAjv`: `type: integer, format: int64` becomes the keyword `int64`. */
export function forAjv(schema: Schema): Schema {
  return useInt64Keyword(schema) as Schema
}

function isInt64(value: Name): Code {
  return _`typeof ${value} === "bigint" && ${value} >= -9223372036854775808n && ${value} <= 9223372036854775807n`
}

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

/** Converts every safe bigint in a value to a number, because Ajv's own keywords do not support bigints. */
function useNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
  if (Array.isArray(value)) return value.map(useNumbers)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, useNumbers(item)]))
}
