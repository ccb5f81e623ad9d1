// Mutated bodies, each of them judged: by a decoder and the validator of new plants, and by the reference.

import { isDeepStrictEqual } from 'node:util'
import { loadContract } from '../../src/contract/contract.ts'
import { AppError } from '../../src/domain/errors.ts'
import { decodeJson, type JsonValue } from '../../src/json/decode.ts'
import { limits } from '../../src/limits.ts'
import type { Random } from '../power-loss/random.ts'
import { mutateBody } from './mutate.ts'
import { type Judgement, judge } from './reference.ts'

export type Decoder = (bytes: Buffer, depthMax: number) => JsonValue

export interface Tally {
  /** Bodies by what has to come of them. */
  readonly answers: Record<Judgement['answer'], number>
  /** Refusals of what is not JSON whose position or character JSON.parse has, too. */
  positions: number
  different: number
  /** The first of the differences. */
  readonly shown: string[]
}

const shownMax = 10
const findingBodiesMax = 50_000
const findingBodiesAtOnce = 100
const readPlant = loadContract().plantReader('the body')

/**
 * Judges so many mutated bodies, and adds them to a tally. The decoder is another one only where it has to be found
 * out.
 */
export function judgeMutated(count: number, random: Random, decode: Decoder = decodeJson, tally = noTally()): Tally {
  for (let left = count; left > 0; left -= 1) {
    const bytes = mutateBody(random)
    const expected = judge(bytes, limits)
    tally.answers[expected.answer] += 1
    if (isPlaced(expected)) tally.positions += 1
    const difference = findDifference(bytes, expected, decode)
    if (difference === undefined) continue
    tally.different += 1
    if (tally.shown.length < shownMax) tally.shown.push(`${difference}: ${bytes.toString('latin1')}`)
  }
  return tally
}

/** Whether mutated bodies find out a decoder. Those that they do not find out take the longest. */
export function findOut(decode: Decoder, random: Random): boolean {
  for (let judged = 0; judged < findingBodiesMax; judged += findingBodiesAtOnce) {
    if (judgeMutated(findingBodiesAtOnce, random, decode).different > 0) return true
  }
  return false
}

/** Decoders with one fault each, by what each does wrong: the controls. */
export const faultyDecoders: Readonly<Record<string, Decoder>> = {
  'lets control characters pass': (bytes, depthMax) =>
    decodeJson(bytes.map((byte) => (byte < 0x20 ? 0x20 : byte)) as Buffer, depthMax),
  'rounds ids to doubles': (bytes, depthMax) => {
    const value = decodeJson(bytes, depthMax)
    const { id } = (value ?? {}) as { readonly id?: JsonValue }
    return typeof id === 'bigint' ? { ...(value as object), id: BigInt(Number(id)) } : value
  },
  'mends what is not UTF-8': (bytes, depthMax) => decodeJson(Buffer.from(bytes.toString('utf8')), depthMax),
  'names the wrong byte': (bytes, depthMax) => {
    try {
      return decodeJson(bytes, depthMax)
    } catch (error) {
      const message = (error as Error).message.replace(/at byte (\d+)/, (_all, at) => `at byte ${Number(at) + 1}`)
      throw new AppError('invalidJson', message)
    }
  },
}

function noTally(): Tally {
  return { answers: { 200: 0, 40001: 0, 40002: 0 }, positions: 0, different: 0, shown: [] }
}

/** What the service has to answer a create with a body, and what it says when it refuses it. */
export function expectAnswer(bytes: Buffer): { readonly answer: Judgement['answer']; readonly message?: string } {
  const { answer } = judge(bytes, limits)
  if (bytes.length === 0) return { answer, message: 'the body is empty' }
  const message = attempt(bytes, decodeJson).refusal?.message
  return { answer, ...(message !== undefined && { message }) }
}

export function findDifference(bytes: Buffer, expected: Judgement, decode: Decoder): string | undefined {
  const { value, refusal } = attempt(bytes, decode)
  const answer = refusal === undefined ? 200 : refusal.code === 'invalidJson' ? 40001 : 40002
  if (answer !== expected.answer) return `${answer}, not ${expected.answer}, ${refusal?.message ?? ''}`
  if (refusal?.code === 'invalidJson') return findDisplacement(refusal.message, expected)
  return isDeepStrictEqual(value, expected.value) ? undefined : 'another value'
}

/** Any error but those that are answered with 400 is thrown on. */
function attempt(bytes: Buffer, decode: Decoder): { readonly value?: JsonValue; readonly refusal?: AppError } {
  let value: JsonValue | undefined
  try {
    value = decode(bytes, limits.jsonDepthMax)
    readPlant(value)
    return { value }
  } catch (refusal) {
    if (!(refusal instanceof AppError) || !['invalidJson', 'invalidPlant'].includes(refusal.code)) throw refusal
    return value === undefined ? { refusal } : { value, refusal }
  }
}

function isPlaced({ answer, at = [], token }: Judgement): boolean {
  return answer === 40001 && (at.length > 0 || token !== undefined)
}

function findDisplacement(message: string, expected: Judgement): string | undefined {
  const [, at, got] = / at byte (\d+)(?:, but the text ends|, got (".*?"))?$/s.exec(message) ?? []
  if (at === undefined) return `no position: ${message}`
  const isThere = (expected.at ?? []).includes(Number(at))
  if (isThere || !isPlaced(expected)) return undefined
  // Of a character that is a pair JSON.parse shows the first half.
  if (expected.token !== undefined && got !== undefined && JSON.parse(got)[0] === expected.token[0]) return undefined
  return `${message}, not at ${expected.at?.join(' or ')} ${expected.token ?? ''}`
}
