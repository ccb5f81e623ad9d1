// Plants with ids that no double holds, and names in many scripts.

import { readFile } from 'node:fs/promises'
import type { NewPlant } from '../../src/domain/plant.ts'
import { decodeJson } from '../../src/json/decode.ts'

export interface WrittenPlant {
  /** Its line in the file, as it stands. */
  readonly line: string
  readonly plant: NewPlant
}

export async function readPlantsOfTheWorld(): Promise<readonly WrittenPlant[]> {
  const text = await readFile(new URL('plants-of-the-world.ndjson', import.meta.url), 'utf8')
  const lines = text.trimEnd().split('\n')
  return lines.map((line) => ({ line, plant: decodeJson(Buffer.from(line), 1) as unknown as NewPlant }))
}
