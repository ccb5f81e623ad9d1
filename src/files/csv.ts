// Reads plants from a CSV file (RFC 4180) of any spreadsheet, incrementally: records, fields and quoting errors; then
// the columns, which may have any order, extra ones ignored. docs/decisions/0009-files.md explains why this is not a
// library. The home page also uses this file, so it needs nothing from Node.js.

import { type Column, type PlantRecord, toJsonOf, UnreadableFile } from './columns.ts'

export interface CsvOptions {
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

/** For each such quote, the reader looks ahead as far as a record may reach. */
const unclosedQuotesMax = 1_000

export interface CsvRecord extends Omit<PlantRecord, 'json'> {
  readonly fields: readonly string[]
  /** False for the last record of a file without a final line end. */
  readonly isEnded: boolean
}

interface CsvRow extends Pick<CsvRecord, 'fields' | 'wrong'> {
  readonly next: number
}

export function splitBy(line: string, separator: string): readonly string[] {
  return new CsvReader(separator, line.length).read(line, true)[0]?.fields ?? []
}

export class CsvReader {
  readonly separator: string
  readonly #charactersMax: number
  /** A field in quotes, perhaps without the last one, or without quotes around it. */
  readonly #field: RegExp
  #line = 1
  #rest = ''
  #unclosedQuotes = 0
  /** Whether to skip the rest of a line that is too long. */
  #isSkipping = false

  /** @param charactersMax limit of a record. */
  constructor(separator: string, charactersMax: number) {
    this.separator = separator
    this.#charactersMax = charactersMax
    this.#field = new RegExp(`"([^"]*(?:""[^"]*)*)("?)|([^${separator}\n]*)`, 'y')
  }

  /**
   * Returns the records that a piece completes; with the last piece, the remaining records. Throws UnreadableFile if too
   * many quotes are never closed.
   */
  read(piece: string, isLast: boolean): CsvRecord[] {
    const text = this.#rest + piece
    const records: CsvRecord[] = []
    let at = this.#isSkipping ? this.#skipLine(text, 0) : 0
    while (at < text.length) {
      const end = endOfLine(text, at)
      const line = text.slice(at, end)
      if (withoutEnd(line).length > this.#charactersMax + 1) {
        records.push(this.#tooLong(line, this.#line))
        at = this.#skipLine(text, at)
        continue
      }
      const row = line.includes('"')
        ? this.#scan(text, at, isLast)
        : { fields: withoutEnd(line).split(this.separator), next: end }
      if (row === undefined || (!isLast && text[row.next - 1] !== '\n')) break
      records.push(this.#toRecord(text.slice(at, row.next), row))
      at = row.next
    }
    this.#rest = text.slice(at)
    return records
  }

  /** Returns the offset of the next line, or of the end of the text if the line continues. */
  #skipLine(text: string, from: number): number {
    const end = endOfLine(text, from)
    this.#isSkipping = text[end - 1] !== '\n'
    if (!this.#isSkipping) this.#line += 1
    return end
  }

  /** Parses a record with quotes, perhaps over several lines; undefined until its end arrives. */
  #scan(text: string, start: number, isLast: boolean): CsvRow | undefined {
    const fields: string[] = []
    for (let at = start; ; at += 1) {
      this.#field.lastIndex = at
      const [field = '', quoted, closing, plain = ''] = this.#field.exec(text) ?? []
      at += field.length
      if (quoted !== undefined && (at - start > this.#charactersMax + 1 || (closing === '' && isLast))) {
        this.#countUnclosedQuote()
        // The record ends with its first line, so that the following lines are not lost.
        return broken(text, start, 'is never closed')
      }
      // Only the next character shows whether the field has ended.
      if (at === text.length && !isLast) return undefined
      // A quote in the middle of a field is literal, as in 5" pot. A quote after leading blanks was meant to open the
      // field.
      if (/^ +"/.test(plain)) return broken(text, at, 'follows blanks at the beginning of a field')
      fields.push(quoted?.replaceAll('""', '"') ?? (text[at] === '\n' ? plain.replace(/\r$/, '') : plain))
      if (text[at] === this.separator) continue
      const next = endOfLine(text, at)
      if (withoutEnd(text.slice(at, next)) === '') return { fields, next }
      return broken(text, at, 'is closed before the end of its field')
    }
  }

  #countUnclosedQuote(): void {
    this.#unclosedQuotes += 1
    if (this.#unclosedQuotes <= unclosedQuotesMax) return
    throw new UnreadableFile(`has more than ${unclosedQuotesMax} quotes that are never closed; double each quote`)
  }

  #toRecord(text: string, { fields, wrong }: CsvRow): CsvRecord {
    const line = this.#line
    this.#line += text.split('\n').length - 1
    const raw = withoutEnd(text)
    if (raw.length > this.#charactersMax) return this.#tooLong(raw, line)
    return { line, raw, fields, isEnded: text.endsWith('\n'), wrong }
  }

  #tooLong(raw: string, line: number): CsvRecord {
    const wrong = `the record is longer than the ${this.#charactersMax} characters allowed`
    return { line, raw: raw.slice(0, this.#charactersMax), fields: [], isEnded: true, isCut: true, wrong }
  }
}

/** A record with invalid quotes ends with the line in which the error was found. */
function broken(text: string, at: number, what: string): CsvRow {
  const wrong = `a quote ${what}; put the field in quotes and double each quote in it`
  return { fields: [], wrong, next: endOfLine(text, at) }
}

function endOfLine(text: string, from: number): number {
  return text.indexOf('\n', from) + 1 || text.length
}

function withoutEnd(text: string): string {
  return text.slice(0, text.endsWith('\r\n') ? -2 : text.endsWith('\n') ? -1 : undefined)
}
