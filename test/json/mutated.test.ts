// A little of `npm run torture -- json`, without its server; and that it finds what is wrong with other decoders.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Random } from '../power-loss/random.ts'
import { faultyDecoders } from './faulty-decoders.ts'
import { findOut, judgeMutated } from './mutated.ts'

describe('mutated bodies', () => {
  test('5,000 of them are judged as JSON.parse does, but for what is meant to differ', () => {
    const { answers, different, shown } = judgeMutated(5_000, new Random(1))
    assert.equal(different, 0, shown.join('\n'))
    for (const count of Object.values(answers)) assert.ok(count > 250, JSON.stringify(answers))
  })

  for (const [fault, decode] of Object.entries(faultyDecoders)) {
    test(`they find out a decoder that ${fault}`, () => {
      assert.ok(findOut(decode, new Random(1)))
    })
  }
})
