// Decoders with one fault each, which mutated bodies have to find out: the controls of `npm run torture -- json`.

import { isUtf8 } from 'node:buffer'
import { AppError } from '../../src/domain/errors.ts'
import { decodeJson, type JsonValue } from '../../src/json/decode.ts'
import type { Decoder } from './mutated.ts'

/** By what each does wrong. */
export const faultyDecoders: Readonly<Record<string, Decoder>> = {
  'lets the last of repeated keys win': (bytes, depthMax) =>
    mending(bytes, depthMax, /appears twice/, (text) => JSON.parse(text, toBigint)),
  'knows no bound of nesting': (bytes, depthMax) => mending(bytes, depthMax, /nested more than/, () => ({})),
  'rounds integers to doubles': (bytes, depthMax) =>
    mapNumbers(decodeJson(bytes, depthMax), (id) => BigInt(Number(id))),
  'mends what is not UTF-8': (bytes, depthMax) => decodeJson(Buffer.from(bytes.toString('utf8')), depthMax),
  'skips a byte order mark': (bytes, depthMax) =>
    decodeJson(bytes[0] === 0xef && isUtf8(bytes) ? bytes.subarray(3) : bytes, depthMax),
  'takes a leading zero': (bytes, depthMax) =>
    mending(bytes, depthMax, /the end of the number/, (text) => decodeJson(Buffer.from(withoutZeros(text)), depthMax)),
  'lets control characters pass': (bytes, depthMax) =>
    decodeJson(bytes.map((byte) => (byte < 0x20 ? 0x20 : byte)) as Buffer, depthMax),
  'makes lone surrogates replacement characters': (bytes, depthMax) =>
    mapTexts(decodeJson(bytes, depthMax), (text) => text.toWellFormed()),
  'names the wrong byte': (bytes, depthMax) => {
    try {
      return decodeJson(bytes, depthMax)
    } catch (error) {
      const message = (error as Error).message.replace(/at byte (\d+)/, (_all, at) => `at byte ${Number(at) + 1}`)
      throw new AppError('invalidJson', message)
    }
  },
}

/** Decodes once more in another way what was refused for a reason. */
function mending(bytes: Buffer, depthMax: number, reason: RegExp, mend: (text: string) => JsonValue): JsonValue {
  try {
    return decodeJson(bytes, depthMax)
  } catch (error) {
    if (!reason.test((error as Error).message)) throw error
    try {
      return mend(bytes.toString('utf8'))
    } catch {
      throw error
    }
  }
}

function toBigint(_key: string, value: JsonValue): JsonValue {
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value
}

function withoutZeros(text: string): string {
  return text.replaceAll(/(?<![\d.])0+(?=\d)/g, '')
}

function mapNumbers(value: JsonValue, map: (integer: bigint) => bigint): JsonValue {
  return mapLeaves(value, (leaf) => (typeof leaf === 'bigint' ? map(leaf) : leaf))
}

function mapTexts(value: JsonValue, map: (text: string) => string): JsonValue {
  return mapLeaves(value, (leaf) => (typeof leaf === 'string' ? map(leaf) : leaf))
}

function mapLeaves(value: JsonValue, map: (leaf: JsonValue) => JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item) => mapLeaves(item, map))
  if (typeof value !== 'object' || value === null) return map(value)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapLeaves(item, map)]))
}
