// Reads a file of plants in its format.

import { limits } from '../limits.ts'
import { carriageReturn } from './csv-fields.ts'
import type { CsvStart } from './csv-header.ts'
import { type CsvPlant, CsvPlants } from './csv-records.ts'
import { openText, type TextFile } from './encoding.ts'
import type { Format } from './formats.ts'
import { readNdjson } from './ndjson-records.ts'
import type { PlantRecord, ReadOptions, RecordBatches } from './records.ts'

export async function* readPlants(file: AsyncIterable<Buffer>, format: Format, options: ReadOptions): RecordBatches {
  const text = await openText(file)
  if (format === 'csv') {
    yield* readCsv(text, options)
    return
  }
  if (text.encoding !== 'UTF-8') options.onReadAs(`is read as ${text.encoding}`)
  yield* readNdjson(text.pieces, options)
}

async function* readCsv({ encoding, pieces }: TextFile, options: ReadOptions): RecordBatches {
  const plants = new CsvPlants({
    ...options,
    needed: ['id', 'name'],
    shownCharactersMax: limits.recordCharactersShown,
    onHeader: (raw, start, ignored) => {
      const words = wordsOf(start, encoding)
      if (words.length > 0) options.onReadAs(`is read ${words.join(' ')}`)
      if (ignored.length > 0) options.onColumnsIgnored(ignored)
      options.onHeader(Buffer.concat([start.mark, raw]))
    },
  })
  for await (const piece of pieces) yield plants.read(piece).map(toRecord)
  yield plants.end().map(toRecord)
}

function wordsOf({ form }: CsvStart, encoding: TextFile['encoding']): readonly string[] {
  const separator = String.fromCharCode(form.separator)
  return [
    ...(encoding === 'UTF-8' ? [] : [`as ${encoding}`]),
    ...(separator === ',' ? [] : [`with ${separatorNames[separator] ?? `the separator ${separator}`}`]),
    ...(form.lineEnd === carriageReturn ? ['with CR line endings'] : []),
  ]
}

const separatorNames: Readonly<Record<string, string>> = { ';': 'semicolons', '\t': 'tabs' }

function toRecord({ raw, json, ...plant }: CsvPlant): PlantRecord {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.length)
  return { ...plant, raw: bytes, ...(json !== undefined && { json: Buffer.from(json) }) }
}
