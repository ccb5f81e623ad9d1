import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { decodeJson, type JsonValue } from '../../src/json/decode.ts'
import { rejectsWith } from '../store/suite.ts'
import { inRing } from '../support/ring.ts'

const decode = (text: string): JsonValue => decodeJson(Buffer.from(text), 32)

describe('the JSON decoder', () => {
  const numbers: readonly [string, bigint | number][] = [
    ['0', 0n],
    ['-0', 0n],
    ['-0.0e-5', 0n],
    ['0e999999999', 0n],
    ['12', 12n],
    ['1.0', 1n],
    ['1.50e1', 15n],
    ['100e-2', 1n],
    ['0.001e3', 1n],
    ['-1E+2', -100n],
    ['9007199254740993', 9007199254740993n],
    ['9223372036854775808', 9223372036854775808n],
    ['-9223372036854775808.000', -9223372036854775808n],
    ['1e39', 10n ** 39n],
    ['1e40', 1e40],
    ['1e400', Number.POSITIVE_INFINITY],
    ['1.5', 1.5],
    ['1e-1', 0.1],
    ['-1e-400', -0],
  ]
  for (const [text, value] of numbers)
    test(`${text} is ${value}${typeof value === 'bigint' ? 'n' : ''}`, () => assert.equal(decode(text), value))

  test('an integer is the same bigint however it is written', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.nat(9), (value, zeros) => {
        assert.equal(decode(`${value}`), value)
        assert.equal(decode(`${value}.${'0'.repeat(zeros + 1)}`), value)
        assert.equal(decode(`${value}.0e${zeros}`), value * 10n ** BigInt(zeros))
        if (value !== 0n) assert.equal(decode(`${value}${'0'.repeat(zeros)}e-${zeros}`), value)
      }),
    )
  })

  test('any JSON text gives what JSON.parse gives, but for its integers', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 20 }), fc.constantFrom('', ' ', '\n', '\t\r\n '), (text, space) => {
        assert.deepEqual(withoutBigints(decode(`${space}${text}${space}`)), withoutZeroSign(JSON.parse(text)))
      }),
      { numRuns: 1_000 },
    )
  })

  test('a text is refused just when JSON.parse refuses it, but for repeated keys and depth', () => {
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"',
      '"a"',
      '"b"',
      '\\',
      '\\n',
      '\\u0041',
      '1',
      '-',
      '.',
      'e',
      '0',
      'true',
      'null',
      ' ',
    ]
    const soup = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(soup, (text) => {
        const reference = attempt(() => JSON.parse(text))
        const ours = attempt(() => decode(text))
        if (ours.error?.includes('twice')) return
        assert.equal(
          ours.error === undefined,
          reference.error === undefined,
          `${text}: ${ours.error} / ${reference.error}`,
        )
      }),
      { numRuns: inRing(1_000, 5_000) },
    )
  })

  test('a number takes time by its length, not by its square', () => {
    // The shortest of several runs, so that a busy machine does not count.
    const shortestMs = (digits: number): number => {
      const bytes = Buffer.from(`1${'0'.repeat(digits)}1`)
      const runs = Array.from({ length: 25 }, () => {
        const startedAt = performance.now()
        decodeJson(bytes, 32)
        return performance.now() - startedAt
      })
      return Math.min(...runs)
    }
    assert.ok(shortestMs(64_000) < 20 * shortestMs(8_000))
  })

  test('any string comes through, escaped or not', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        assert.equal(decode(JSON.stringify(text)), text)
        const escaped = [...text].map((character) => toEscapes(character)).join('')
        assert.equal(decode(`"${escaped}"`), text)
      }),
    )
  })

  test('bytes that are not UTF-8 are refused', async () => {
    for (const hex of ['ff', '22c080222', '22eda08022', '22f4908080', '22c2']) {
      await rejectsWith(
        Promise.resolve().then(() => decodeJson(Buffer.from(hex, 'hex'), 32)),
        'invalidJson',
      )
    }
  })

  test('__proto__ is a key like any other', () => {
    const value = decode('{"__proto__":{"id":1}}')
    assert.deepEqual(Object.keys(value as object), ['__proto__'])
    assert.equal((value as { id?: unknown }).id, undefined)
  })

  test('errors name the byte and what was found there', () => {
    const messageOf = (text: string): string | undefined => attempt(() => decode(text)).error
    assert.equal(messageOf('{"a" 1}'), 'not valid JSON: expected a colon at byte 5, got "1"')
    assert.equal(messageOf('[1,'), 'not valid JSON: expected a value at byte 3, but the text ends')
    assert.equal(messageOf('{"a":1,"a":1}'), 'not valid JSON: the key "a" appears twice in one object at byte 7')
    assert.equal(
      messageOf('"🌿'),
      'not valid JSON: expected a character of a string or its closing quote at byte 5, but the text ends',
    )
  })
})

function attempt(run: () => unknown): { error?: string } {
  try {
    run()
    return {}
  } catch (error) {
    return { error: (error as Error).message }
  }
}

function toEscapes(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('')
}

function withoutBigints(value: JsonValue): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(withoutBigints)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutBigints(item)]))
  }
  return value
}

/** JSON.parse keeps the sign of -0, which an integer does not have. */
function withoutZeroSign(value: unknown): unknown {
  if (value === 0) return 0
  if (Array.isArray(value)) return value.map(withoutZeroSign)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutZeroSign(item)]))
  }
  return value
}
