// Rows of a spreadsheet, CSV and NDJSON, read as `plantstore import` reads them.

import type { NewPlant } from './client.js'
import { parseExact } from './exact-json.js'

/** A row: its plant, or what is wrong with it. */
export interface PlantRow {
  readonly line: number
  /** The row as it was read, without its line end. */
  readonly raw: string
  readonly plant?: NewPlant & { readonly id: bigint }
  readonly wrong?: string
}

export interface Rows {
  readonly format: 'csv' | 'ndjson'
  /** The line of the columns with its line end; empty if there is none. */
  readonly header: string
  readonly rows: readonly PlantRow[]
}

const [idMin, idMax] = [-(2n ** 63n), 2n ** 63n - 1n]
const charactersMax = { name: 1_024, tag: 256 } as const
const columns = ['id', 'name', 'tag'] as const
const separators = ['\t', ',', ';'] as const
/** Lone surrogates and NUL cannot be stored. */
const unstorable = /[\0\p{Cs}]/u

/** Throws TypeError if a text is neither CSV nor NDJSON. */
export function readRows(text: string): Rows {
  const content = text.replace(/^\ufeff/, '')
  return /^\s*\{/.test(content) ? readNdjson(content) : readCsv(content)
}

function readNdjson(content: string): Rows {
  const lines = content.split('\n').map((line) => line.replace(/\r$/, ''))
  const rows = lines
    .map((raw, at) => ({ raw, line: at + 1 }))
    .filter(({ raw }) => raw.trim() !== '')
    .map(({ raw, line }) => ({ raw, line, ...plantOfJson(raw) }))
  return { format: 'ndjson', header: '', rows }
}

type Found = Pick<PlantRow, 'plant'> | Pick<PlantRow, 'wrong'>

function plantOfJson(raw: string): Found {
  let value: unknown
  try {
    value = parseExact(raw)
  } catch {
    return { wrong: 'is not JSON' }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { wrong: 'is not a JSON object' }
  const { id, name, tag } = value as Readonly<Record<string, unknown>>
  const isWhole = typeof id === 'bigint' || (typeof id === 'number' && Number.isSafeInteger(id))
  if (!isWhole) return { wrong: 'id: is not a whole number' }
  if (typeof name !== 'string') return { wrong: 'name: is not a text' }
  if (tag !== undefined && typeof tag !== 'string') return { wrong: 'tag: is not a text' }
  return checked(BigInt(id), name, tag)
}

function checked(id: bigint, name: string, tag: string | undefined): Found {
  if (id < idMin || id > idMax) return { wrong: 'id: a whole number of up to 19 digits is needed' }
  for (const [field, text] of Object.entries({ name, tag })) {
    const most = charactersMax[field as 'name' | 'tag']
    const length = text === undefined ? 0 : [...text].length
    if (length > most) return { wrong: `${field}: has ${length} characters, more than ${most}` }
    if (unstorable.test(text ?? '')) return { wrong: `${field}: has a character that cannot be stored` }
  }
  return { plant: { id, name, ...(tag !== undefined && { tag }) } }
}

/** A record of CSV (RFC 4180). */
interface CsvRecord {
  readonly line: number
  readonly raw: string
  readonly fields: readonly string[]
  /** False for the last record of a file without a final line end. */
  readonly isEnded: boolean
  readonly wrong?: string
}

function readCsv(content: string): Rows {
  const named = /^"?sep=([\x20-\x7e\t])"?\r?\n/i.exec(content)
  const body = content.slice(named?.[0].length ?? 0)
  const separator = named?.[1] ?? separatorOf(body)
  const records = split(body, separator, named === null ? 1 : 2).filter(
    ({ fields, wrong }) => wrong !== undefined || fields.some((field) => field.trim() !== ''),
  )
  const [first] = records
  if (first === undefined) throw new TypeError('There are no rows.')
  const names = first.fields.map((name) => name.trim().toLowerCase())
  const hasHeader = names.includes('id') && names.includes('name')
  // What is pasted from a sheet often has no header.
  if (!hasHeader && !/^\s*-?\d+\s*$/.test(first.fields[0] ?? '')) {
    throw new TypeError('The first row must name the columns id, name and, if there are any, tag.')
  }
  const repeated = hasHeader && columns.find((name) => names.indexOf(name) !== names.lastIndexOf(name))
  if (repeated) throw new TypeError(`There is more than one column ${repeated}.`)
  const places = hasHeader ? columns.map((name) => names.indexOf(name)) : [0, 1, 2]
  const count = first.fields.length
  const rows = (hasHeader ? records.slice(1) : records).map((record) => toRow(record, places, count))
  return { format: 'csv', header: hasHeader ? `${(named?.[0] ?? '') + first.raw}\r\n` : '', rows }
}

function separatorOf(body: string): string {
  const line = /^[^\r\n]*\S[^\r\n]*/m.exec(body)?.[0] ?? ''
  const cells = (separator: string): number => line.split(separator).length
  const byHeader = separators.find((each) => {
    const names = split(line, each, 1)[0]?.fields.map((name) => name.trim().toLowerCase()) ?? []
    return names.includes('id') && names.includes('name')
  })
  return byHeader ?? separators.find((each) => cells(each) > 1) ?? ','
}

function toRow({ line, raw, fields, isEnded, wrong }: CsvRecord, places: readonly number[], count: number): PlantRow {
  const isTooLong = fields.slice(count).some((field) => field.trim() !== '')
  if (wrong !== undefined) return { line, raw, wrong }
  // Spreadsheets leave out empty cells at the end of a row.
  const needed = Math.max(...places.slice(0, 2)) + 1
  const isTooShort = fields.length < count && (!isEnded || fields.length < needed)
  if (isTooLong || isTooShort)
    return {
      line,
      raw,
      wrong: `has ${fields.length} ${fields.length === 1 ? 'cell' : 'cells'}, the first row ${count}`,
    }
  const [id = '', name = '', tag = ''] = places.map((place) => fields[place])
  const digits = id.trim()
  if (!/^-?\d+$/.test(digits)) {
    // A spreadsheet has rounded it.
    const advice = /^-?\d[\d.,]*(e[-+]?\d+)?$/i.test(digits) ? '; format the column as text' : ''
    return { line, raw, wrong: `id: ${JSON.stringify(digits)} is not a whole number${advice}` }
  }
  return { line, raw, ...checked(BigInt(digits), name, tag === '' ? undefined : tag) }
}

const brokenQuote = 'has a quote that is not closed, or closed before the end of its cell'

/** Splits CSV into records. A record with a broken quote ends with the line where that shows. */
function split(body: string, separator: string, firstLine: number): CsvRecord[] {
  const records: CsvRecord[] = []
  // LF, which CR may precede; or CR alone, as on old Macs.
  const lineEnd = /^[^\r\n]*\r(?!\n)/.test(body) ? '\r' : '\n'
  const endFrom = (at: number): number => {
    const end = body.indexOf(lineEnd, at)
    return end === -1 ? body.length : end
  }
  const plain = separator === '\t' ? `[^\\t${lineEnd}]` : `[^\\${separator}${lineEnd}]`
  const cell = new RegExp(`"((?:[^"]|"")*)"|(${plain}*)`, 'y')
  let line = firstLine
  for (let at = 0; at < body.length; ) {
    const start = at
    const fields: string[] = []
    let wrongAt: number | undefined
    for (;;) {
      cell.lastIndex = at
      const [all = '', quoted, bare = ''] = cell.exec(body) ?? []
      if (quoted === undefined && /^ *"/.test(bare)) wrongAt ??= bare.startsWith('"') ? start : at
      fields.push(quoted?.replaceAll('""', '"') ?? bare)
      at += all.length
      if (body[at] !== separator || wrongAt !== undefined) break
      at += 1
    }
    const isEnded = at >= body.length || body.startsWith(lineEnd, at) || body.startsWith(`\r${lineEnd}`, at)
    const end = endFrom(wrongAt ?? at)
    const raw = body.slice(start, lineEnd === '\n' && body[end - 1] === '\r' ? end - 1 : end)
    const isWrong = wrongAt !== undefined || !isEnded
    const last = fields.at(-1) ?? ''
    if (!isWrong && raw.length < end - start && last.endsWith('\r') && at === end)
      fields[fields.length - 1] = last.slice(0, -1)
    records.push({ line, raw, fields, isEnded: end < body.length, ...(isWrong && { wrong: brokenQuote }) })
    line += body.slice(start, end + 1).split(lineEnd).length - 1
    at = end + 1
  }
  return records
}
