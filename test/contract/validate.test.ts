import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compileValidator as compileValidatorWith, createAjv } from '../../src/contract/compile.ts'
import type { Schema } from '../../src/contract/schemas.ts'
import type { Validator } from '../../src/contract/validate.ts'
import { int64Max, int64Min } from '../../src/domain/plant.ts'

const compileValidator = (schema: Schema, subject: string): Validator =>
  compileValidatorWith(createAjv({}), schema, subject)

describe('a validator', () => {
  const int64 = compileValidator({ type: 'integer', format: 'int64' }, 'the number')

  test('admits a bigint within int64 and nothing else as an int64', () => {
    for (const value of [int64Min, -1n, 0n, int64Max]) assert.equal(int64(value), undefined)
    for (const value of [int64Min - 1n, int64Max + 1n, 1, 1.5, '1', null, true, {}]) {
      assert.match(int64(value) ?? '', /^the number: must be an integer from -9223372036854775808 to/)
    }
  })

  test('names the field, what it must be and what came, in one line', () => {
    const validate = compileValidator(
      { type: 'object', properties: { a: { type: 'object', properties: { b: { type: 'array' } } } } },
      'it',
    )
    assert.equal(validate({ a: { b: 'x' } }), 'a.b: must be an array, got "x"')
    assert.equal(validate([]), 'it: must be an object, got an array')
    assert.equal(
      validate({ a: { b: `\u001b[31m\n${'x'.repeat(100)}` } }),
      `a.b: must be an array, got "\\u001b[31m\\n${'x'.repeat(54)}..."`,
    )
  })

  test('shows nothing that a terminal would obey', () => {
    const validate = compileValidator({ type: 'integer' }, 'it')
    assert.equal(validate('\u009b31m\u007f'), 'it: must be an integer, got "\\u009b31m\\u007f"')
  })

  test('refuses unpaired surrogates where the schema asks for it, in the words of the schema', () => {
    const words = 'must have no NUL character and no unpaired surrogate'
    const validate = compileValidator(
      { type: 'string', pattern: '^[^\\x00]*$', 'x-wellFormed': true, 'x-meaning': words },
      'it',
    )
    for (const text of ['', '🌿', '\ud7ff\ue000', 'a\nb']) assert.equal(validate(text), undefined)
    for (const text of ['\ud83c', '\udf3f', '\udf3f\ud83c', '🌿\ud83c', '\0', '\0\ud83c']) {
      assert.equal(validate(text), `it: ${words}`)
    }
    assert.equal(compileValidator({ type: 'string', 'x-wellFormed': false }, 'it')('\ud83c'), undefined)
    assert.equal(validate(1n), 'it: must be a string, got 1')
  })

  test('sees own properties only', () => {
    const validate = compileValidator({ type: 'object', required: ['a'] }, 'it')
    assert.equal(validate(Object.create({ a: 1 })), 'a: is missing')
  })

  test('is not compiled from a schema with an unknown keyword', () => {
    assert.throws(() => compileValidator({ type: 'string', maxLenght: 3 }, 'it'), /unknown keyword: "maxLenght"/)
  })
})
