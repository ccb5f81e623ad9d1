// Sends the corpus through the decoder and the validator, and through the reference, the decoder of the kit.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { loadContract } from '../../src/contract/contract.ts'
import { AppError } from '../../src/domain/errors.ts'
import { decodeJson } from '../../src/json/decode.ts'
import { limits } from '../../src/limits.ts'
import { Random } from '../power-loss/random.ts'
import { type Case, corpus } from './corpus.ts'
import { faultyDecoders, findOut, judgeMutated } from './mutated.ts'
import { judge } from './reference.ts'

const { readPlant } = loadContract()
const decode = (text: string) => decodeJson(Buffer.from(text), limits.jsonDepthMax)
const shown = ({ bytes }: Case): string => JSON.stringify(bytes.toString('latin1', 0, 80))

describe('the decoder', () => {
  for (const each of corpus) test(`decodes ${shown(each)}`, () => checkDecoder(each))

  for (const [text, message] of [
    ['{"a" 1}', 'expected a colon at byte 5, got "1"'],
    ['[1,', 'expected a value at byte 3, but the text ends'],
    ['[1 2]', 'expected a comma or a closing bracket at byte 3, got "2"'],
    ['{"a":1,"a":1}', 'the key "a" appears twice in one object at byte 7'],
    ['"🌿', 'expected a character of a string or its closing quote at byte 5, but the text ends'],
    ['"\\u004"', 'expected four hexadecimal digits after \\u at byte 6, got "\\""'],
    ['"\\v"', 'expected one of "\\/bfnrtu after a backslash at byte 2, got "v"'],
    ['01', 'expected the end of the number at byte 1, got "1"'],
    ['1.}', 'expected a digit at byte 2, got "}"'],
    ['tru]', 'expected the word true at byte 3, got "]"'],
    ['{} x', 'expected the end of the text at byte 3, got "x"'],
    ['\ufeff{}', 'there is a byte order mark at byte 0'],
    ['['.repeat(33), 'arrays and objects are nested more than 32 deep at byte 32'],
  ] as const)
    test(`says of ${text}: ${message}`, () =>
      assert.throws(() => decode(text), { message: `not valid JSON: ${message}` }))

  test('counts how deep values are nested, not how many there are', () =>
    assert.deepEqual(decode(`[${'[],{},'.repeat(33)}1]`), [...Array(33).fill([[], {}]).flat(), 1n]))

  test('gives the same bigint for an integer however it is written', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.nat(9), (value, zeros) => {
        assert.equal(decode(`${value}`), value)
        assert.equal(decode(`${value}.${'0'.repeat(zeros + 1)}`), value)
        assert.equal(decode(`${value}.0e${zeros}`), value * 10n ** BigInt(zeros))
        if (value !== 0n) assert.equal(decode(`${value}${'0'.repeat(zeros)}e-${zeros}`), value)
      }),
    )
  })

  test('takes time for a number by its length, not by its square', () => {
    // The shortest of several runs, so that a busy machine does not count.
    const shortestMs = (digits: number): number => {
      const number = `1${'0'.repeat(digits)}1`
      const runs = Array.from({ length: 25 }, () => {
        const startedAt = performance.now()
        decode(number)
        return performance.now() - startedAt
      })
      return Math.min(...runs)
    }
    assert.ok(shortestMs(64_000) < 20 * shortestMs(8_000))
  })
})

// A little of `npm run torture -- json`.
describe('mutated bodies', () => {
  test('5,000 of them are judged as the reference judges them', () => {
    const { answers, different, shown } = judgeMutated(5_000, new Random(1))
    assert.equal(different, 0, shown.join('\n'))
    for (const count of Object.values(answers)) assert.ok(count > 250, JSON.stringify(answers))
  })

  for (const [fault, decode] of Object.entries(faultyDecoders))
    test(`detect a decoder that ${fault}`, () => assert.ok(findOut(decode, new Random(1))))
})

/** The answer and the position are those of the corpus, the value that of the reference. */
function checkDecoder({ bytes, answer, at }: Case): void {
  const { value, ...judged } = judge(bytes)
  assert.equal(judged.answer, answer)
  const { code, message = '' } = refusalOf(bytes) ?? {}
  if (answer === 40001) {
    assert.equal(code, 'invalidJson', message)
    assert.equal(/ at byte (\d+)(?:$|, )/.exec(message)?.[1], String(at), message)
    return
  }
  assert.equal(code, answer === 200 ? undefined : 'invalidPlant', message)
  assert.deepEqual(decodeJson(bytes, limits.jsonDepthMax), value)
}

/** Why a body is no plant, or nothing when it is one. */
function refusalOf(bytes: Buffer): AppError | undefined {
  try {
    readPlant(decodeJson(bytes, limits.jsonDepthMax))
    return undefined
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}
