import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { foldName, int64Max, int64Min, revisionOf } from '../../src/domain/plant.ts'
import { toPlant } from '../support/plants.ts'
import { inRing } from '../support/ring.ts'

describe('a folded name', () => {
  test('is the same for the upper and the lower case of every character, and folds to itself', () => {
    // Most characters have one case.
    for (let point = 0; point <= inRing(0x2fff, 0x10ffff); point += 1) {
      if (point >= 0xd800 && point <= 0xdfff) continue
      const character = String.fromCodePoint(point)
      const folded = foldName(character)
      const name = `U+${point.toString(16)}`
      assert.equal(foldName(character.toUpperCase()), folded, name)
      assert.equal(foldName(character.toLowerCase()), folded, name)
      assert.equal(foldName(folded), folded, name)
    }
  })

  test('begins with the folded beginning of the name, a sigma at its end too', () => {
    assert.ok(foldName('ΟΔΟΣΑ').startsWith(foldName('ΟΔΟΣ')))
    assert.equal(foldName('οδός'), foldName('ΟΔΌΣ'))
  })

  test('is the same for compatible characters', () => {
    assert.equal(foldName('Ｆｉｃｕｓ'), 'ficus')
    assert.equal(foldName('e\u0301'), foldName('É'))
  })
})

describe('a revision', () => {
  const id = fc.oneof(
    fc.bigInt({ min: 0n, max: 3n }),
    fc.constantFrom(int64Min, -1n, 8_192n, 8_193n, 1n << 32n, int64Max),
  )
  const text = fc.oneof(
    fc.constantFrom('', 'a', 'b', 'n'.repeat(127), 'n'.repeat(200)),
    fc.string({ unit: 'grapheme' }),
  )
  const plant = fc.record({ id, name: text, tag: fc.option(text, { nil: undefined }) })

  test('is equal for equal plants and different for different ones', () => {
    fc.assert(
      fc.property(plant, plant, (a, b) => {
        const isSame = a.id === b.id && a.name === b.name && a.tag === b.tag
        assert.equal(revisionOf(toPlant(a).json) === revisionOf(toPlant(b).json), isSame)
      }),
    )
    assert.match(revisionOf('{}'), /^[\w-]{22}$/)
  })
})
