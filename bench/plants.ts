// Plants by the million, as files, the same ones each time.

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'

export const plantsMany = 1_000_000

/** Writes a file of plants with ids spread over all of int64 and in no order, a line each, as `format` gives it. */
export async function writePlants(
  file: string,
  format: (id: bigint, name: string, tag: string) => string,
): Promise<void> {
  const output = createWriteStream(file)
  let text = ''
  for (let index = 0n; index < plantsMany; index += 1n) {
    // A multiplier that is odd visits every id once.
    const id = BigInt.asIntN(64, index * 0x9e3779b97f4a7c15n)
    text += format(id, `Monstera deliciosa ${index % 1000n}`, `tag${index % 50n}`)
    if (text.length < 1 << 20) continue
    if (!output.write(text)) await once(output, 'drain')
    text = ''
  }
  output.end(text)
  await once(output, 'close')
}
