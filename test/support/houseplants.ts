// The plants of examples/houseplants.ndjson.

import { readFile } from 'node:fs/promises'
import type { NewPlant } from '../../src/domain/plant.ts'
import { decodeJson } from '../../src/json/decode.ts'

export interface Houseplant {
  /** Its line in the file, as it stands. */
  readonly line: string
  readonly plant: NewPlant
}

export async function readHouseplants(): Promise<readonly Houseplant[]> {
  const text = await readFile(new URL('../../examples/houseplants.ndjson', import.meta.url), 'utf8')
  const lines = text.trimEnd().split('\n')
  return lines.map((line) => ({ line, plant: decodeJson(Buffer.from(line), 1) as unknown as NewPlant }))
}
