// Reads a file of plants in its format.

import { readCsv } from './csv-records.ts'
import { openText } from './encoding.ts'
import type { Format } from './formats.ts'
import { readNdjson } from './ndjson-records.ts'
import type { ReadOptions, RecordBatches } from './records.ts'

export async function* readPlants(file: AsyncIterable<Buffer>, format: Format, options: ReadOptions): RecordBatches {
  const text = await openText(file)
  if (format === 'csv') {
    yield* readCsv(text, options)
    return
  }
  if (text.encoding !== 'UTF-8') options.onReadAs(`is read as ${text.encoding}`)
  yield* readNdjson(text.pieces, options)
}
