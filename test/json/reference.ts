// The expected result for a body, computed without src/json: by the decoder of `plantstore verify`, which uses
// JSON.parse, and by the rules of the document, written again. The corpus has the positions in messages.

import type { JsonValue } from '../../src/json/decode.ts'
import { limits } from '../../src/limits.ts'
import { decodeJson } from '../../verify/json.ts'

export interface Judgement {
  readonly answer: 200 | 40001 | 40002
  /** Absent if the body is not JSON. */
  readonly value?: JsonValue
}

export function judge(bytes: Buffer): Judgement {
  try {
    const value = decodeJson(bytes)
    if (depthOf(value) > limits.jsonDepthMax) return { answer: 40001 }
    return { answer: isPlant(value) ? 200 : 40002, value }
  } catch (error) {
    // It takes less depth than JSON.parse.
    if (error instanceof SyntaxError || error instanceof RangeError) return { answer: 40001 }
    throw error
  }
}

/** How deep arrays and objects are nested. */
function depthOf(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Object.values(value).reduce((most: number, each) => Math.max(most, depthOf(each)), 0)
}

/** The rules of openapi.yaml for a new plant. */
function isPlant(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const members = new Map(Object.entries(value))
  const id = members.get('id')
  const isText = (text: JsonValue | undefined, charactersMax: number): boolean =>
    typeof text === 'string' && text.isWellFormed() && !text.includes('\0') && [...text].length <= charactersMax
  return (
    typeof id === 'bigint' &&
    BigInt.asIntN(64, id) === id &&
    isText(members.get('name'), 1024) &&
    (!members.has('tag') || isText(members.get('tag'), 256))
  )
}
