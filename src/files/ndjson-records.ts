// Reads the records of an NDJSON file: its lines.

import type { PlantRecord, ReadOptions, RecordBatches } from './records.ts'
import { UnreadableFile } from './unreadable-file.ts'

const lineFeed = 0x0a
const carriageReturn = 0x0d

/** @param pieces UTF-8 without a byte order mark. */
export async function* readNdjson(
  pieces: AsyncIterable<Buffer>,
  { recordBytesMax }: Pick<ReadOptions, 'recordBytesMax'>,
): RecordBatches {
  let line = 0
  let rest: Buffer = Buffer.alloc(0)
  let skipped = 0
  for await (const piece of pieces) {
    const batch: PlantRecord[] = []
    let from = 0
    for (let end = piece.indexOf(lineFeed); end !== -1; end = piece.indexOf(lineFeed, from)) {
      line += 1
      const bytes =
        from === 0 && rest.length > 0 ? Buffer.concat([rest, piece.subarray(0, end)]) : piece.subarray(from, end)
      const record = toRecord(bytes, line, skipped, recordBytesMax)
      if (record !== undefined) batch.push(record)
      if (from === 0) rest = Buffer.alloc(0)
      skipped = 0
      from = end + 1
    }
    rest = Buffer.concat([rest, piece.subarray(from)])
    // Keep only the beginning of a line that is too long, for display.
    if (rest.length > recordBytesMax + 1) {
      skipped += rest.length - recordBytesMax - 1
      rest = rest.subarray(0, recordBytesMax + 1)
    }
    yield batch
  }
  const last = toRecord(rest, line + 1, skipped, recordBytesMax)
  if (last !== undefined) yield [last]
}

/** Undefined for an empty line. Throws UnreadableFile if the first line is no JSON object: the file has another format. */
function toRecord(bytes: Buffer, line: number, skipped: number, recordBytesMax: number): PlantRecord | undefined {
  const json = bytes.subarray(0, bytes.at(-1) === carriageReturn ? -1 : undefined)
  if (json.length === 0) return undefined
  if (line === 1 && !/^\s*\{/.test(json.toString('latin1'))) {
    throw new UnreadableFile(
      'does not begin with a line such as {"id": 1, "name": "Fern"}; write one plant per line, or for CSV, add --format csv',
    )
  }
  if (json.length + skipped <= recordBytesMax) return { line, json, raw: json }
  return { line, raw: json, isCut: true, wrong: `the line is longer than the ${recordBytesMax} bytes allowed` }
}
