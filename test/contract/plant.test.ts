// The text of a plant, beside a plain reference.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { toJson, toPlants } from '../../src/contract/plant.ts'
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
