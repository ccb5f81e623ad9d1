// The records of a file of plants: its lines when it is NDJSON, else those of CSV (RFC 4180), whose columns may have
// any order.

import { isUtf8 } from 'node:buffer'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { parse } from 'csv-parse'
import { limits } from '../config.ts'
import { csvColumns, type Format } from './plant-files.ts'

/** One record of a file: the JSON text of a plant, or why there is none. */
export interface PlantRecord {
  /** Line that the record begins in, from 1. */
  readonly line: number
  /** The record as it stands in the file, without its line break; of one that is too long only the beginning. */
  readonly raw: Buffer
  readonly json?: Buffer
  /** The record is longer than what is left of it here. */
  readonly isCut?: true
  readonly wrong?: string
}

/**
 * Records come in batches, as many as a piece of the file holds, as one by one they would cost more than what is in
 * them.
 */
export type RecordBatches = AsyncIterable<readonly PlantRecord[]>

const lineFeed = 0x0a
const carriageReturn = 0x0d
const byteOrderMark = Buffer.from('\ufeff')

export interface ReadOptions {
  /** A longer record is wrong, and not kept in memory. */
  readonly recordBytesMax: number
  /** Takes the header of a CSV file as it stands. */
  readonly onHeader: (raw: Buffer) => void
}

export function readRecords(file: AsyncIterable<Buffer>, format: Format, options: ReadOptions): RecordBatches {
  return format === 'csv' ? readCsv(file, options) : readNdjson(file, options)
}

async function* readNdjson(file: AsyncIterable<Buffer>, { recordBytesMax }: ReadOptions): RecordBatches {
  let line = 0
  let rest: Buffer = Buffer.alloc(0)
  let skipped = 0
  for await (const piece of file) {
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
    // Of a line that is too long only its beginning is kept, to be shown.
    if (rest.length > recordBytesMax + 1) {
      skipped += rest.length - recordBytesMax - 1
      rest = rest.subarray(0, recordBytesMax + 1)
    }
    yield batch
  }
  const last = toRecord(rest, line + 1, skipped, recordBytesMax)
  if (last !== undefined) yield [last]
}

/** Undefined for an empty line. */
function toRecord(bytes: Buffer, line: number, skipped: number, recordBytesMax: number): PlantRecord | undefined {
  const start = line === 1 && bytes.subarray(0, 3).equals(byteOrderMark) ? 3 : 0
  const json = bytes.subarray(start, bytes.at(-1) === carriageReturn ? -1 : undefined)
  if (json.length === 0) return undefined
  if (json.length + skipped <= recordBytesMax) return { line, json, raw: json }
  return { line, raw: json, isCut: true, wrong: `the line is longer than the ${recordBytesMax} bytes allowed` }
}

async function* readCsv(file: AsyncIterable<Buffer>, { recordBytesMax, onHeader }: ReadOptions): RecordBatches {
  let columns: readonly string[] | undefined
  let batch: PlantRecord[] = []
  let line = 1
  const parser = parse({
    // Bytes as characters: whether they are UTF-8 is checked record by record.
    encoding: 'latin1',
    record_delimiter: ['\r\n', '\n'],
    raw: true,
    relax_column_count: true,
    max_record_size: recordBytesMax,
    skip_records_with_error: true,
    on_skip: (error, raw) => {
      batch.push({
        line: Number(error?.['lines'] ?? 0),
        raw: toRaw(raw ?? ''),
        wrong: error?.message ?? 'not valid CSV',
      })
      line += countLines(raw ?? '')
    },
  })
  feed(file, parser)
  for await (const { record, raw } of parser as AsyncIterable<{ record: string[]; raw: string }>) {
    if (record.length === 1 && record[0] === '') {
      // An empty line.
    } else if (columns === undefined) {
      columns = readHeader(record)
      onHeader(toRaw(raw))
    } else {
      batch.push(csvRecord(columns, record, line, toRaw(raw)))
    }
    line += countLines(raw)
    if (batch.length < limits.csvBatchRecords) continue
    const full = batch
    batch = []
    yield full
  }
  if (columns === undefined) throw new RangeError('the header with the columns id, name and tag is missing')
  yield batch
}

/** Gives a file to a parser without its byte order mark, as fast as it takes it. */
function feed(file: AsyncIterable<Buffer>, parser: Writable): void {
  const writing = async (): Promise<void> => {
    let isFirst = true
    for await (const piece of file) {
      const start = isFirst && piece.subarray(0, 3).equals(byteOrderMark) ? 3 : 0
      isFirst = false
      if (!parser.write(piece.subarray(start))) await once(parser, 'drain')
    }
    parser.end()
  }
  writing().catch((error) => parser.destroy(error))
}

function readHeader(names: readonly string[]): readonly string[] {
  const columns = names.map((name) => name.trim().toLowerCase())
  const missing = ['id', 'name'].filter((name) => !columns.includes(name))
  const unknown = columns.filter((name, index) => !csvColumns.includes(name) || columns.indexOf(name) !== index)
  if (missing.length + unknown.length === 0) return columns
  throw new RangeError(
    `the header must have the columns id, name and tag, each once, got ${names.join(',').slice(0, limits.longRecordCharactersKept)}`,
  )
}

/** A CSV field has no type: an id that is a JSON number is one, and an empty tag is none. */
function csvRecord(columns: readonly string[], fields: readonly string[], line: number, raw: Buffer): PlantRecord {
  if (fields.length !== columns.length) {
    return { line, raw, wrong: `the record has ${fields.length} fields, the header ${columns.length}` }
  }
  if (!isUtf8(raw)) return { line, raw, wrong: 'not valid UTF-8' }
  const field = (name: string): string => toRaw(fields[columns.indexOf(name)] ?? '').toString('utf8')
  const id = field('id').trim()
  const number = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(id) ? id : JSON.stringify(id)
  const tag = field('tag') === '' ? '' : `,"tag":${JSON.stringify(field('tag'))}`
  return { line, raw, json: Buffer.from(`{"id":${number},"name":${JSON.stringify(field('name'))}${tag}}`) }
}

/** The lines that a record takes up, its own line break included. */
function countLines(raw: string): number {
  return raw.replace(/\n$/, '').split('\n').length
}

/** The bytes of a text that was read as one character a byte, without its line break. */
function toRaw(text: string): Buffer {
  return Buffer.from(text.replace(/\r?\n?$/, ''), 'latin1')
}
