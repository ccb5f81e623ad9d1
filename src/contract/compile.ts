// Compiles schemas by Ajv: those of requests when `npm run generate` runs, those of answers when `verify` does.

import { _, type Code, type Name } from 'ajv'
import { Ajv2020, type CodeOptions } from 'ajv/dist/2020.js'
import type { Schema } from './document.ts'
import { explain, type Validator } from './validate.ts'

/**
 * A validator of the body of an answer, of which a value may also be a bigint where the schema has another integer.
 *
 * @param subject what the value is called in messages when the value as a whole is wrong, as in `the body`.
 */
export function compileAnswerValidator(schema: Schema, subject: string): Validator {
  const validate = createAjv((value) => _`${isInt64(value)} || Number.isSafeInteger(${value})`).compile(forAjv(schema))
  const explained = explain(validate, subject)
  return (value) => explained(useNumbers(value))
}

/** @param int64Of the condition that the keyword `int64` makes. */
export function createAjv(int64Of: (value: Name) => Code = isInt64, code: CodeOptions = {}): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    ownProperties: true,
    formats: { int32: true },
    // The tests hold the document to the schema of schemas.
    meta: false,
    validateSchema: false,
    keywords: ['example', 'x-meaning'],
    code,
  })
  // Ajv's own `type: integer` and its bounds look only at JavaScript numbers, so this keyword does all of an int64.
  ajv.addKeyword({
    keyword: 'int64',
    schemaType: 'boolean',
    code: (context) => context.pass(int64Of(context.data)),
  })
  // A text without unpaired surrogates, for which there is no pattern that every engine of regular expressions takes.
  return ajv.addKeyword({
    keyword: 'x-wellFormed',
    type: 'string',
    schemaType: 'boolean',
    code: (context) => context.pass(context.schema ? _`${context.data}.isWellFormed()` : _`true`),
  })
}

/** A schema for `createAjv`: `type: integer, format: int64` is the keyword `int64` there. */
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

/** Replaces each bigint that a number has exactly, all through a value: Ajv's own keywords know no bigint. */
function useNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
  if (Array.isArray(value)) return value.map(useNumbers)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, useNumbers(item)]))
}
