import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createAjv, forAjv } from '../../src/contract/compile.ts'
import type { Schema } from '../../src/contract/schemas.ts'
import { explain, type Validator } from '../../src/contract/validate.ts'

const compileValidator = (schema: Schema, subject: string): Validator =>
  explain(createAjv({}).compile(forAjv(schema) as Schema), subject)

describe('a validator', () => {
  test('names the field, what it must be and what came, in one line', () => {
    const inner: Schema = { type: 'object', properties: { b: { type: 'array' } } }
    const validate = compileValidator({ type: 'object', properties: { a: inner } }, 'it')
    assert.equal(validate({ a: { b: 'x' } }), 'a.b: must be an array, got "x"')
    assert.equal(validate([]), 'it: must be an object, got an array')
    const expected = `a.b: must be an array, got "\\u001b[31m\\n${'x'.repeat(54)}..."`
    assert.equal(validate({ a: { b: `\u001b[31m\n${'x'.repeat(100)}` } }), expected)
  })

  test('names a field as its schema does, and not all of very many choices', () => {
    const choice: Schema = { enum: Array.from({ length: 23 }, (_, at) => `c${at}`) }
    const validate = compileValidator({ type: 'object', properties: { 'a/b~c': choice } }, 'it')
    assert.match(validate({ 'a/b~c': true }) ?? '', /^a\/b~c: must be "c0" or .* or "c19" or one of 3 others, /)
  })

  test('shows nothing that a terminal would obey', () => {
    const validate = compileValidator({ type: 'integer' }, 'it')
    assert.equal(validate('\u009b31m\u007f'), 'it: must be an integer, got "\\u009b31m\\u007f"')
  })

  test('is not compiled from a schema with an unknown keyword', () => {
    assert.throws(() => compileValidator({ type: 'string', maxLenght: 3 }, 'it'), /unknown keyword: "maxLenght"/)
  })
})
