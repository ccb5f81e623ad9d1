// Reads the records of a CSV file from any spreadsheet: columns may have any order, and extra columns are ignored.

import { isUtf8 } from 'node:buffer'
import { amount } from '../domain/shown.ts'
import { toJsonOf } from './columns.ts'
import { CsvReader, type CsvRecord, carriageReturn, splitRecord } from './csv-fields.ts'
import { type CsvColumns, type CsvStart, findStart, readColumns } from './csv-header.ts'
import type { TextFile } from './encoding.ts'
import { type PlantRecord, type ReadOptions, type RecordBatches, UnreadableFile } from './records.ts'

const notUtf8 = 'not valid UTF-8; save the file as "CSV UTF-8"'

export async function* readCsv(file: TextFile, options: ReadOptions): RecordBatches {
  const pieces = file.pieces[Symbol.asyncIterator]()
  const { start, head, isAll } = await readHead(pieces, options)
  const reader = new CsvReader(start.form, start.line, options.recordBytesMax)
  const toRead = head.subarray(start.at)
  const [header, ...first] = isAll ? reader.end(toRead) : reader.read(toRead)
  if (header === undefined) throw new UnreadableFile('has an incomplete header')
  const columns = takeHeader(header, start, file, options)
  yield toRecords(first, columns, options)
  if (isAll) return
  for (;;) {
    const next = await pieces.next()
    yield toRecords(next.done === true ? reader.end() : reader.read(next.value), columns, options)
    if (next.done === true) return
  }
}

/** Reads to the end of the header. */
async function readHead(
  pieces: AsyncIterator<Buffer>,
  { columns, recordBytesMax }: ReadOptions,
): Promise<{ start: CsvStart; head: Buffer; isAll: boolean }> {
  let head: Buffer = Buffer.alloc(0)
  for (;;) {
    const next = await pieces.next()
    const isAll = next.done === true
    if (!isAll) head = Buffer.concat([head, next.value])
    const start = findStart(head, isAll, columns)
    if (start !== undefined) return { start, head, isAll }
    if (head.length > recordBytesMax)
      throw new UnreadableFile(`has a header longer than the ${recordBytesMax} bytes allowed`)
  }
}

function takeHeader(
  { raw }: CsvRecord,
  { form, mark }: CsvStart,
  { encoding }: TextFile,
  options: ReadOptions,
): CsvColumns {
  if (!isUtf8(raw)) throw new UnreadableFile('is not UTF-8; save it as "CSV UTF-8", or choose UTF-8 when you export it')
  const columns = readColumns(splitRecord(raw, form), raw, options.columns)
  const separator = String.fromCharCode(form.separator)
  const ways = [
    ...(encoding === 'UTF-8' ? [] : [`as ${encoding}`]),
    ...(separator === ',' ? [] : [`with ${separatorNames[separator] ?? `the separator ${separator}`}`]),
    ...(form.lineEnd === carriageReturn ? ['with CR line endings'] : []),
  ]
  if (ways.length > 0) options.onReadAs(`is read ${ways.join(' ')}`)
  if (columns.ignored.length > 0) options.onColumnsIgnored(columns.ignored)
  options.onHeader(Buffer.concat([mark, raw]))
  return columns
}

const separatorNames: Readonly<Record<string, string>> = { ';': 'semicolons', '\t': 'tabs' }

function toRecords(
  found: readonly CsvRecord[],
  columns: CsvColumns,
  { onMaybeRounded }: ReadOptions,
): readonly PlantRecord[] {
  return found
    .filter((record) => !isBlank(record))
    .map((record) => {
      if (roundedPattern.test(record.fields[columns.id] ?? '')) onMaybeRounded()
      return toRecord(record, columns)
    })
}

/** Spreadsheets keep 15 digits of a number, and replace the rest with zeros. */
const roundedPattern = /^ *-?[1-9][0-9]{14}0+ *$/

/** Spreadsheets write an empty row as a line of separators. */
function isBlank({ fields, wrong }: CsvRecord): boolean {
  return wrong === undefined && fields.every((field) => field.trim() === '')
}

function toRecord(record: CsvRecord, columns: CsvColumns): PlantRecord {
  const { line, raw, fields, isCut } = record
  const wrong = record.wrong ?? whyNoPlant(record, columns)
  if (wrong !== undefined) return { line, raw, wrong, ...(isCut === true && { isCut }) }
  const members = columns.known.flatMap(([column, at]) => {
    const json = toJsonOf(column, fields[at] ?? '')
    return json === undefined ? [] : [`${JSON.stringify(column.name)}:${json}`]
  })
  return { line, raw, json: Buffer.from(`{${members.join()}}`) }
}

function whyNoPlant({ raw, fields, isEnded }: CsvRecord, { count, id, name }: CsvColumns): string | undefined {
  if (!isUtf8(raw)) return notUtf8
  const isTooLong = fields.slice(count).some((field) => field.trim() !== '')
  // Excel omits empty fields at the end of a row. A file that was truncated within a row has no final line end.
  const isTooShort = fields.length < count && (!isEnded || fields.length <= Math.max(id, name))
  if (isTooLong || isTooShort) return `the record has ${amount(fields.length, 'field')}, the header ${count}`
  const shown = (fields[id] ?? '').trim()
  if (!/^[-+]?[0-9]+(?:[.,][0-9]+)?(?:e[-+]?[0-9]+)?$/i.test(shown) || /^[-+]?[0-9]+$/.test(shown)) return undefined
  return `id: ${JSON.stringify(shown)} is not an integer; if a spreadsheet rounded it, format the column as text`
}
