// File formats: NDJSON, one plant per line, and CSV (RFC 4180) with one column per property; their encoding, and
// their records.

import { toJson } from '../contract/plant.ts'
import type { Plant } from '../domain/plant.ts'
import { decodeText, type JsonValue } from '../json/decode.ts'
import { limits } from '../limits.ts'
import { type Column, csvRow, decodePiece, decoderOf, type PlantRecord, toField, UnreadableFile } from './columns.ts'
import { type CsvOptions, CsvPlants } from './csv.ts'

export const formats = ['ndjson', 'csv'] as const

export type Format = (typeof formats)[number]

/** Chooses the format of a file: the requested one, else the one of its extension, else NDJSON. */
export function chooseFormat(fileName: string, wanted: Format | undefined): Format {
  return wanted ?? (/\.[ct]sv$/i.test(fileName) ? 'csv' : 'ndjson')
}

/** Chooses the format of an export. Throws RangeError for an extension that only imports read. */
export function chooseExportFormat(fileName: string, wanted: Format | undefined): Format {
  if (/\.tsv$/i.test(fileName)) {
    throw new RangeError(`${fileName} ends in .tsv, but exports have commas, not tabs; name it .csv`)
  }
  return chooseFormat(fileName, wanted)
}

export function csvHeader(columns: readonly Column[]): string {
  return csvRow(columns.map(({ name }) => name))
}

/** @param onLeftOut receives the names of properties without a column. @param toShown escapes a text for a terminal. */
export function csvOf(
  { json }: Plant,
  columns: readonly Column[],
  onLeftOut: (name: string) => void,
  toShown = (text: string) => text,
): string {
  const plant = new Map(Object.entries(decodeText(json, limits.jsonDepthMax) as Record<string, JsonValue>))
  const fields = columns.map((column) => toShown(toField(column, plant.get(column.name), toJson)))
  for (const { name } of columns) plant.delete(name)
  for (const name of plant.keys()) onLeftOut(name)
  return csvRow(fields)
}

/** Records come in batches, one per piece of the file; yielding them one by one would cost more than parsing them. */
export type RecordBatches = AsyncGenerator<readonly PlantRecord[]>

export interface ReadOptions extends Omit<CsvOptions, 'needed'> {
  readonly onUtf16: () => void
}

export function readPlants(file: AsyncIterable<Buffer>, format: Format, options: ReadOptions): RecordBatches {
  const pieces = decode(file, options.onUtf16)
  return format === 'csv' ? readCsv(pieces, options) : readNdjson(pieces, options)
}

/** Decodes UTF-8, with or without a byte order mark, or UTF-16 with one. */
async function* decode(file: AsyncIterable<Buffer>, onUtf16: () => void): AsyncGenerator<string> {
  let start: Buffer = Buffer.alloc(0)
  let decoder: TextDecoder | undefined
  for await (const piece of file) {
    start = start.length === 0 ? piece : Buffer.concat([start, piece])
    if (start.length < 2) continue
    const isFirst = decoder === undefined
    decoder ??= decoderOf(start)
    const decoded = decodePiece(start, decoder, true)
    if (isFirst && decoder.encoding !== 'utf-8') onUtf16()
    yield decoded
    start = Buffer.alloc(0)
  }
  yield decodePiece(start, decoder)
}

async function* readCsv(pieces: AsyncIterable<string>, options: ReadOptions): RecordBatches {
  const plants = new CsvPlants({ ...options, needed: ['id', 'name'] })
  for await (const piece of pieces) yield plants.read(piece, false)
  yield plants.read('', true)
}

async function* readNdjson(pieces: AsyncIterable<string>, { recordCharactersMax }: ReadOptions): RecordBatches {
  let line = 0
  let rest = ''
  const toRecords = (text: string): PlantRecord[] => {
    line += 1
    return toRecord(text, line, recordCharactersMax)
  }
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n')
    // The beginning of a line that is too long is enough to reject it.
    rest = (lines.pop() ?? '').slice(0, recordCharactersMax + 2)
    yield lines.flatMap(toRecords)
  }
  yield toRecords(rest)
}

/** An empty line has no record. Throws UnreadableFile if the first line is not JSON: the file has another format. */
function toRecord(text: string, line: number, charactersMax: number): PlantRecord[] {
  const raw = text.replace(/\r$/, '')
  if (raw === '') return []
  if (line === 1 && !/^\s*\{/.test(raw)) {
    throw new UnreadableFile(
      'does not begin with a line such as {"id": 1, "name": "Fern"}; write one plant per line, or for CSV, add --format csv',
    )
  }
  if (raw.length <= charactersMax) return [{ line, raw, json: raw }]
  const wrong = `the line is longer than the ${charactersMax} characters allowed`
  return [{ line, raw: raw.slice(0, charactersMax), isCut: true, wrong }]
}
