// Decoders with one fault each, which mutated bodies have to find out: in what is JSON, in a value, in the encoding and
// in a position. The controls of `npm run torture -- json`.

import { AppError } from '../../src/domain/errors.ts'
import { decodeJson, type JsonValue } from '../../src/json/decode.ts'
import type { Decoder } from './mutated.ts'

/** By what each does wrong. */
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
