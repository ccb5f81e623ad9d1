// Rows of a spreadsheet, CSV and NDJSON, read as `plantstore import` reads them.

import type { NewPlant } from './client.js'
import type { Column } from './columns.js'
import { parseExact } from './exact-json.js'
import { findColumns, findSeparator } from './header-columns.js'
import { meaningOf, ownOf, type PlantProperty, plantOf, properties } from './properties.js'

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
/** Such as `id, name and tag`. */
export const namesOfColumns = new Intl.ListFormat('en-GB').format(properties.map(({ name }) => name))
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
  return checked(plantOf(Object.entries(value)))
}

/** What the page knows to be wrong; the server knows more. */
function checked(values: object): Found {
  const [wrong] = properties.flatMap((property) => faultOf(property, ownOf(values, property.name)) ?? [])
  if (wrong !== undefined) return { wrong }
  const id = BigInt(String(ownOf(values, 'id')))
  return id < idMin || id > idMax
    ? { wrong: 'id: a whole number of up to 19 digits is needed' }
    : { plant: { ...(values as NewPlant), id } }
}

function faultOf({ name, isRequired, kind, schema }: PlantProperty, value: unknown): string | undefined {
  if (value === undefined) return isRequired ? `${name}: is missing` : undefined
  const isWhole = typeof value === 'bigint' || Number.isSafeInteger(value)
  if (schema['type'] === 'integer' && !isWhole) return `${name}: is not a whole number`
  if (kind === 'number' && !isWhole && typeof value !== 'number') return `${name}: is not a number`
  if (kind === 'boolean' && typeof value !== 'boolean') return `${name}: is neither true nor false`
  if (kind !== 'text') return undefined
  if (typeof value !== 'string') return `${name}: is not a text`
  const [length, most] = [[...value].length, Number(schema['maxLength'] ?? Number.POSITIVE_INFINITY)]
  if (length > most) return `${name}: has ${length} characters, more than ${most}`
  return unstorable.test(value) ? `${name}: has a character that cannot be stored` : undefined
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
  const { known, repeated, hasIdAndName } = findColumns(first.fields, properties)
  // What is pasted from a sheet often has no header.
  if (!hasIdAndName && !/^\s*-?\d+\s*$/.test(first.fields[0] ?? '')) {
    throw new TypeError(`The first row must name the columns: ${namesOfColumns}.`)
  }
  if (hasIdAndName && repeated !== undefined) throw new TypeError(`There is more than one column ${repeated}.`)
  const columns = hasIdAndName ? known : properties.map((property, at) => [property, at] as const)
  const count = first.fields.length
  const rows = (hasIdAndName ? records.slice(1) : records).map((record) => toRow(record, columns, count))
  return { format: 'csv', header: hasIdAndName ? `${(named?.[0] ?? '') + first.raw}\r\n` : '', rows }
}

function separatorOf(body: string): string {
  const line = /^[^\r\n]*\S[^\r\n]*/m.exec(body)?.[0] ?? ''
  const fieldsOf = (separator: string): readonly string[] => split(line, separator, 1)[0]?.fields ?? []
  const byHeader = findSeparator(line, properties, (_line, separator) => fieldsOf(separator))
  return byHeader ?? ['\t', ',', ';'].find((each) => line.includes(each)) ?? ','
}

type Columns = readonly (readonly [column: Column, at: number])[]

function toRow({ line, raw, fields, isEnded, wrong }: CsvRecord, columns: Columns, count: number): PlantRow {
  const isTooLong = fields.slice(count).some((field) => field.trim() !== '')
  if (wrong !== undefined) return { line, raw, wrong }
  // Spreadsheets leave out empty cells at the end of a row.
  const needed = Math.max(...columns.flatMap(([{ name }, at]) => (['id', 'name'].includes(name) ? [at + 1] : [])))
  const isTooShort = fields.length < count && (!isEnded || fields.length < needed)
  if (isTooLong || isTooShort)
    return {
      line,
      raw,
      wrong: `has ${fields.length} ${fields.length === 1 ? 'cell' : 'cells'}, the first row ${count}`,
    }
  const digits = (fields[columns.find(([{ name }]) => name === 'id')?.[1] ?? 0] ?? '').trim()
  if (!/^-?\d+$/.test(digits)) {
    // A spreadsheet has rounded it.
    const advice = /^-?\d[\d.,]*(e[-+]?\d+)?$/i.test(digits) ? '; format the column as text' : ''
    return { line, raw, wrong: `id: ${JSON.stringify(digits)} is not a whole number${advice}` }
  }
  const values = plantOf(columns.map(([column, at]) => [column.name, meaningOf(column, fields[at] ?? '')] as const))
  return { line, raw, ...checked(values) }
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
