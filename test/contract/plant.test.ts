// The text of a plant, beside a plain reference, and what validators say.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { createAjv, forAjv } from '../../src/contract/compile.ts'
import { toJson, toPlants } from '../../src/contract/plant.ts'
import type { Schema } from '../../src/contract/schemas.ts'
import { explain, type Validator } from '../../src/contract/validate.ts'
import { int64Max, int64Min, withoutId } from '../../src/domain/plant.ts'

/** Not the unit `binary` of fast-check, which takes seconds of the processor to begin. */
const character = fc.oneof(fc.nat(0xff), fc.nat(0x10ffff)).map((point) => String.fromCodePoint(point))
const kept = fc.string({ unit: character, maxLength: 9 }).map((each) => each.replaceAll('\0', '0').toWellFormed())
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(kept, fc.bigInt(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(kept, tie('value'), { maxKeys: 3 }),
  ),
}))
const id = fc.bigInt({ min: int64Min, max: int64Max })
const name = fc.oneof(kept, fc.constantFrom('__proto__', 'constructor', 'id2', 'toString', '"'))
const names = fc.uniqueArray(name, { maxLength: 6 }).map((others) => ['id', ...others.filter((each) => each !== 'id')])

function reference(json: unknown): string {
  if (typeof json === 'bigint') return `${json}`
  if (Array.isArray(json)) return `[${json.map(reference)}]`
  if (typeof json !== 'object' || json === null) return JSON.stringify(json)
  return `{${Object.entries(json).map(([key, each]) => `${JSON.stringify(key)}:${reference(each)}`)}}`
}

describe('the text of a plant', () => {
  test('has its id first, with all digits, its declared properties in their order, and no others', () => {
    const drawn = names.chain((declared) =>
      fc.tuple(fc.constant(declared), id, fc.array(fc.tuple(fc.oneof(name, fc.constantFrom(...declared)), value))),
    )
    fc.assert(
      fc.property(drawn, ([declared, plantId, drawnMembers]) => {
        const properties = Object.fromEntries([...drawnMembers, ['id', plantId]])
        const { json } = toPlants(declared)(properties as { id: bigint })
        const present = declared.filter((each) => Object.hasOwn(properties, each))
        const members = present.map((each) => `${JSON.stringify(each)}:${reference(properties[each])}`)
        assert.equal(json, `{${members}}`)
        if (members.length > 1) assert.equal(withoutId(json), `{${members.slice(1)}}`)
      }),
    )
  })

  test('takes nothing from what an object inherits', () => {
    const inherited = Object.create({ tag: 'inherited' }) as object
    const { json } = toPlants(['id', 'name', 'tag'])(Object.assign(inherited, { id: 1n, name: 'n' }))
    assert.equal(json, '{"id":1,"name":"n"}')
  })

  for (const text of ['a\0', '\ud83c', '\\\udf3f', '\\\\\0']) {
    test(`cannot have ${JSON.stringify(text)}, wherever it is`, () => {
      for (const odd of [text, [text], { [text]: 1 }, { a: [{ b: text }] }]) {
        const error = { code: 'invalidPlant', message: /^a: must have no/ }
        assert.throws(() => toPlants(['id', 'a'])({ id: 1n, a: odd }), error)
      }
    })
  }

  test('can have whatever only looks like an escape', () => {
    for (const text of ['\\u0000', '\\\\ud800', '\u0001', '\ud83c\udf3f']) {
      assert.equal(toPlants(['id', 'a'])({ id: 1n, a: text }).json, `{"id":1,"a":${JSON.stringify(text)}}`)
    }
  })

  test('cannot have a number that JavaScript does not hold', () => {
    for (const a of [Number.POSITIVE_INFINITY, [{ b: Number.NEGATIVE_INFINITY }]]) {
      assert.throws(() => toPlants(['id', 'a'])({ id: 1n, a }), { code: 'invalidPlant' })
    }
  })
})

test('JSON has the digits of each bigint, at any depth', () => {
  assert.equal(toJson({ a: [int64Max, { b: -1n }], c: '"' }), `{"a":[${int64Max},{"b":-1}],"c":"\\""}`)
})

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
