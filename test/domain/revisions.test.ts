// Remembered revisions: never those of another plant, or of an earlier state.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { int64Max, int64Min, revisionOf } from '../../src/domain/plant.ts'
import { Revisions } from '../../src/domain/revisions.ts'
import { toPlant } from '../support/plants.ts'

describe('a remembered revision', () => {
  const id = fc.oneof(
    fc.bigInt({ min: 0n, max: 3n }),
    fc.constantFrom(int64Min, -1n, 8_192n, 8_193n, 1n << 32n, int64Max),
  )
  const text = fc.oneof(
    fc.constantFrom('', 'a', 'b', 'n'.repeat(127), 'n'.repeat(200)),
    fc.string({ unit: 'grapheme' }),
  )
  const plant = fc
    .record({ id, name: text, tag: fc.option(text, { nil: undefined }) })
    .map(({ id, name, tag }) => toPlant({ id, name, tag }))

  test('is that of the plant as it is now, whatever was read before', () => {
    fc.assert(
      fc.property(fc.array(plant, { minLength: 1, maxLength: 50 }), (plants) => {
        const revisions = new Revisions()
        for (const each of [...plants, ...plants, ...plants]) assert.equal(revisions.of(each), revisionOf(each.json))
      }),
    )
  })
})
