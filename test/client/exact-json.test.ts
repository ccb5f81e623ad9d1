// The JSON parser of the client on hostile input: its time is linear, because no deadline could end it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fromJson } from '../../client/exact-json.ts'
import { inRing } from '../support/ring.ts'

describe('the parser of the client', () => {
  test('keeps other integers exactly, as bigints only beyond 2^53', () => {
    const long = '9'.repeat(401)
    const text = `{"a":-9007199254740993,"b":[9007199254740992,9007199254740991],"c":9007199254740993.5,"d":"9007199254740993","e":${long}}`
    const numbers = { a: -9007199254740993n, b: [9007199254740992n, 9007199254740991], c: 9007199254740994 }
    assert.deepEqual(fromJson(text), { ...numbers, d: '9007199254740993', e: Infinity })
    for (const wrong of ['[01]', '[-]', '[1.]', '[--1]', '[00000000000000000001]'])
      assert.throws(() => fromJson(wrong), SyntaxError)
  })

  const parts = ['"', '\\"', '"id": ', '"id":1.', '"\\\n', '{"id":', '[', ' ', '12345678,', '\\']
  for (const part of parts) {
    test(`takes as long as there is text, be it ${JSON.stringify(part)} again and again`, () => {
      for (const beginning of ['', '"', '{"id":']) {
        const text = beginning + part.repeat((size * 2 ** 20) / part.length)
        const tenth = text.slice(0, text.length / 10)
        const linear = 10 * cpuMs(() => tenth.replace(/./gs, (character) => character))
        const own = cpuMs(() => assert.throws(() => fromJson(text), isNonsense))
        // Quadratic time would be a thousand times as much and more.
        assert.ok(own < 20 * Math.max(linear, 10), `${own} ms, a call for each character ${linear} ms`)
      }
    })
  }
})

/** In MiB. */
const size = inRing(0.3, 10)

const cpuMs = (work: () => unknown): number => {
  const before = process.cpuUsage()
  work()
  return process.cpuUsage(before).user / 1_000
}

const isNonsense = (error: unknown): boolean => error instanceof SyntaxError || error instanceof RangeError
