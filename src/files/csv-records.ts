// Reads plants from a CSV file of any spreadsheet: columns may have any order, and extra columns are ignored. The home
// page also uses this file, so it needs nothing from Node.js.

import { type Column, toJsonOf } from './columns.ts'
import { CsvReader, type CsvRecord } from './csv-fields.ts'
import { type PlantRecord, UnreadableFile } from './records.ts'

export interface CsvOptions {
  /** The columns that a file may have. */
  readonly columns: readonly Column[]
  /** The names of the columns that it must have. */
  readonly needed: readonly string[]
  /** A longer record is rejected, and not kept in memory. */
  readonly recordCharactersMax: number
  readonly onHeader: (header: CsvHeader) => void
  /** Called for each id that a spreadsheet may have rounded; this cannot be detected reliably. */
  readonly onMaybeRounded: () => void
}

/** The first record that is not blank. It names the columns. */
export interface CsvHeader {
  readonly raw: string
  readonly separator: string
  /** The names of columns that are not properties of a plant. */
  readonly ignored: readonly string[]
}

/** The columns of a file, in its order; undefined for one that is not a property of a plant. */
type FileColumns = readonly (Column | undefined)[]

/** The part of a file after its header. */
interface Body {
  readonly reader: CsvReader
  readonly columns: FileColumns
}

const separators = [',', ';', '\t']
const headerCharactersShown = 200

/** Reads a file piece by piece. Throws UnreadableFile if its header lacks a needed column. */
export class CsvPlants {
  readonly #options: CsvOptions
  /** One for each separator that the file may still have. */
  #readers: readonly CsvReader[]
  /** A header that lacks a needed column, for the message. */
  #unfit: CsvRecord | undefined
  #body: Body | undefined

  constructor(options: CsvOptions) {
    this.#options = options
    this.#readers = separators.map((separator) => new CsvReader(separator, options.recordCharactersMax))
  }

  /** Returns the plants that a piece completes; with the last piece, the remaining plants. */
  read(piece: string, isLast: boolean): readonly PlantRecord[] {
    const plants =
      this.#body === undefined
        ? this.#readHead(piece, isLast)
        : this.#toPlants(this.#body.reader.read(piece, isLast), this.#body)
    if (isLast && this.#body === undefined) throw new UnreadableFile(`has no header; ${whatIsNeeded}`)
    return plants
  }

  /** Finds the header and its separator: with it, the header has the needed columns. */
  #readHead(piece: string, isLast: boolean): readonly PlantRecord[] {
    for (const reader of this.#readers) {
      const records = reader.read(piece, isLast)
      // Blank lines may have another separator than the header.
      const at = records.findIndex((record) => !isBlank(record) && /[^,;\s]/.test(record.raw))
      const header = records[at]
      if (header === undefined) continue
      if (/\r(?!\n)/.test(header.raw)) throw new UnreadableFile(`has lines that end with CR only; ${howToSave}`)
      this.#body = this.#toBody(reader, header)
      if (this.#body !== undefined) return this.#toPlants(records.slice(at + 1), this.#body)
      this.#unfit ??= header
      this.#readers = this.#readers.filter((other) => other !== reader)
    }
    if (this.#readers.length > 0) return []
    const { raw, isCut, wrong } = this.#unfit ?? {}
    if (isCut) throw new UnreadableFile(`has a wrong header: ${wrong}: ${shown(raw)}`)
    throw new UnreadableFile(`has no column id or no column name; ${whatIsNeeded}, but it is: ${shown(raw)}`)
  }

  #toBody(reader: CsvReader, { raw, fields }: CsvRecord): Body | undefined {
    const { columns: declared, needed, onHeader } = this.#options
    const columns = findColumns(fields, declared)
    if (!needed.every((name) => indexOf(name, columns) !== -1)) return undefined
    const repeated = columns.find((column, at) => column !== undefined && columns.indexOf(column) !== at)
    if (repeated !== undefined) {
      throw new UnreadableFile(`has more than one column ${repeated.name}; its first line is: ${shown(raw)}`)
    }
    const names = fields.map((field) => field.trim())
    const ignored = names.filter((name, at) => name !== '' && columns[at] === undefined)
    onHeader({ raw, separator: reader.separator, ignored })
    return { reader, columns }
  }

  #toPlants(records: readonly CsvRecord[], { columns }: Body): readonly PlantRecord[] {
    const id = indexOf('id', columns)
    return records
      .filter((record) => !isBlank(record))
      .map((record) => {
        if (roundedPattern.test(record.fields[id] ?? '')) this.#options.onMaybeRounded()
        return toPlant(record, columns)
      })
  }
}

const whatIsNeeded = 'its first line must name the columns: id, name, and the other properties of plants'
const howToSave = 'save it as "CSV UTF-8"'
/** Spreadsheets keep 15 digits of a number, and replace the rest with zeros. */
const roundedPattern = /^ *-?[1-9][0-9]{14}0+ *$/

/** Spreadsheets write an empty row as a line of separators. */
function isBlank({ fields, wrong }: CsvRecord): boolean {
  return wrong === undefined && fields.every((field) => field.trim() === '')
}

function shown(header = ''): string {
  return header.slice(0, headerCharactersShown)
}

/** Finds the columns that a header names: an exact match, else without surrounding spaces, else in any case. */
export function findColumns(header: readonly string[], columns: readonly Column[]): FileColumns {
  return header.map((text) => {
    const trimmed = text.trim()
    return (
      columns.find(({ name }) => name === text) ??
      columns.find(({ name }) => name === trimmed) ??
      columns.find(({ name }) => name.toLowerCase() === trimmed.toLowerCase())
    )
  })
}

function indexOf(name: string, columns: FileColumns): number {
  return columns.findIndex((column) => column?.name === name)
}

function toPlant(record: CsvRecord, columns: FileColumns): PlantRecord {
  const { line, raw, fields, isCut, wrong = whyNoPlant(record, columns) } = record
  if (wrong !== undefined) return { line, raw, wrong, isCut }
  const members = columns.flatMap((column, at) => {
    const json = column === undefined ? undefined : toJsonOf(column, fields[at] ?? '')
    return json === undefined ? [] : [`${JSON.stringify(column?.name)}:${json}`]
  })
  return { line, raw, json: `{${members.join()}}` }
}

function whyNoPlant({ fields, isEnded }: CsvRecord, columns: FileColumns): string | undefined {
  const id = indexOf('id', columns)
  const isTooLong = fields.slice(columns.length).some((field) => field.trim() !== '')
  // Excel omits empty fields at the end of a row. A file that was truncated within a row has no final line end.
  const needed = isEnded ? Math.max(id, indexOf('name', columns)) + 1 : columns.length
  if (isTooLong || fields.length < needed) {
    return `the record has ${fields.length} ${fields.length === 1 ? 'field' : 'fields'}, the header ${columns.length}`
  }
  const text = (fields[id] ?? '').trim()
  if (!/^[-+]?[0-9]+(?:[.,][0-9]+)?(?:e[-+]?[0-9]+)?$/i.test(text) || /^[-+]?[0-9]+$/.test(text)) return undefined
  return `id: ${JSON.stringify(text)} is not an integer; if a spreadsheet rounded it, format the column as text`
}
