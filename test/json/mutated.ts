// Judges mutated bodies by our decoder and validator, and by the reference. Faulty decoders must be detected.

import { isDeepStrictEqual } from 'node:util'
import { loadContract } from '../../src/contract/contract.ts'
import { AppError } from '../../src/domain/errors.ts'
import { decodeJson, type JsonValue } from '../../src/json/decode.ts'
import { limits } from '../../src/limits.ts'
import type { Random } from '../power-loss/random.ts'
import { mutateBody } from './mutate.ts'
import { type Judgement, judge } from './reference.ts'

type Decoder = (bytes: Buffer, depthMax: number) => JsonValue

/** Decoders with one fault each, by their faults. */
export const faultyDecoders: Readonly<Record<string, Decoder>> = {
  'accepts control characters': (bytes, depthMax) =>
    decodeJson(bytes.map((byte) => (byte < 0x20 ? 0x20 : byte)) as Buffer, depthMax),
  'rounds ids to doubles': (bytes, depthMax) => {
    const value = decodeJson(bytes, depthMax)
    const { id } = (value ?? {}) as { readonly id?: JsonValue }
    return typeof id === 'bigint' ? { ...(value as object), id: BigInt(Number(id)) } : value
  },
  'repairs invalid UTF-8': (bytes, depthMax) => decodeJson(Buffer.from(bytes.toString('utf8')), depthMax),
}

export interface Tally {
  /** Bodies by their required answer. */
  readonly answers: Record<Judgement['answer'], number>
  different: number
  /** The first of the differences. */
  readonly shown: string[]
}

const shownMax = 10
const findingBodiesMax = 50_000
const findingBodiesAtOnce = 100
const { readPlant } = loadContract()

export const noTally = (): Tally => ({ answers: { 200: 0, 40001: 0, 40002: 0 }, different: 0, shown: [] })

/** Judges so many mutated bodies, and adds them to a tally. */
export function judgeMutated(count: number, random: Random, decode: Decoder = decodeJson, tally = noTally()): Tally {
  for (let left = count; left > 0; left -= 1) {
    const bytes = mutateBody(random)
    const expected = judge(bytes)
    tally.answers[expected.answer] += 1
    const found = answerTo(bytes, decode)
    if (isDeepStrictEqual(found, expected)) continue
    tally.different += 1
    if (tally.shown.length < shownMax)
      tally.shown.push(`${found.answer}, not ${expected.answer}, or another value: ${bytes.toString('latin1')}`)
  }
  return tally
}

/** Whether mutated bodies detect a faulty decoder. */
export function findOut(decode: Decoder, random: Random): boolean {
  for (let judged = 0; judged < findingBodiesMax; judged += findingBodiesAtOnce) {
    if (judgeMutated(findingBodiesAtOnce, random, decode).different > 0) return true
  }
  return false
}

function answerTo(bytes: Buffer, decode: Decoder): Judgement {
  let value: JsonValue | undefined
  try {
    value = decode(bytes, limits.jsonDepthMax)
    readPlant(value)
    return { answer: 200, value }
  } catch (error) {
    const code = error instanceof AppError ? error.code : undefined
    if (code === 'invalidJson') return { answer: 40001 }
    if (code === 'invalidPlant' && value !== undefined) return { answer: 40002, value }
    throw error
  }
}
