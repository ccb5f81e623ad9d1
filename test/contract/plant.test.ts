// The text of a plant, beside a plain reference.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { loadContract } from '../../src/contract/contract.ts'
import { toJson } from '../../src/contract/plant.ts'
import { int64Max, int64Min, withoutId } from '../../src/domain/plant.ts'
import { plantJson } from '../../src/verify/plant.ts'
import { toPlant } from '../support/plants.ts'

const id = fc.bigInt({ min: int64Min, max: int64Max })
const text = fc.string({ unit: 'binary' }).map((each) => each.replaceAll('\0', '0').toWellFormed())

describe('the text of a plant', () => {
  test('has its id first, with all digits, its declared properties in their order, and no others', () => {
    const value = fc.record(
      { tag: text, 'further one': fc.jsonValue(), name: text, id },
      { requiredKeys: ['id', 'name'] },
    )
    fc.assert(
      fc.property(value, (properties) => {
        const { json } = toPlant(properties)
        assert.equal(json, plantJson(properties.id, properties.name, properties.tag))
        assert.equal(withoutId(json), JSON.stringify({ name: properties.name, tag: properties.tag }))
      }),
    )
    assert.deepEqual(
      loadContract().properties.map(({ name }) => name),
      ['id', 'name', 'tag'],
    )
  })

  test('takes nothing from what an object inherits', () => {
    const inherited = Object.create({ tag: 'inherited' }) as object
    const { json } = toPlant(Object.assign(inherited, { id: 1n, name: 'n' }))
    assert.equal(json, '{"id":1,"name":"n"}')
  })
})

test('JSON has the digits of each bigint, at any depth', () => {
  assert.equal(toJson({ a: [int64Max, { b: -1n }], c: '"' }), `{"a":[${int64Max},{"b":-1}],"c":"\\""}`)
})
