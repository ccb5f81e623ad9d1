// Reads plants from a CSV file of any spreadsheet: columns may have any order, and extra columns are ignored. The home
// page reads files with it, too, so it needs nothing of Node.js.

import { type Column, toJsonOf } from './columns.ts'
import { CsvReader, type CsvRecord, joined, splitRecord, textOf } from './csv-fields.ts'
import { type CsvColumns, type CsvStart, findStart, readColumns } from './csv-header.ts'
import { UnreadableFile } from './unreadable-file.ts'

export interface CsvOptions {
  /** The columns that a file may have. */
  readonly columns: readonly Column[]
  /** The names of those that it must have. */
  readonly needed: readonly string[]
  /** A longer record is refused, and not kept in memory. */
  readonly recordBytesMax: number
  /** How much of a header a message shows. */
  readonly shownCharactersMax: number
  /** Receives the header, and the names of ignored columns. */
  readonly onHeader: (raw: Uint8Array, start: CsvStart, ignored: readonly string[]) => void
  /** Called for each id that a spreadsheet may have rounded; this cannot be detected reliably. */
  readonly onMaybeRounded: () => void
}

/** A record: the JSON text of a plant, or the reason why there is none. */
export interface CsvPlant extends Pick<CsvRecord, 'line' | 'raw' | 'isCut' | 'wrong'> {
  readonly json?: string
}

/** The part of a file after its header. */
interface Body {
  readonly reader: CsvReader
  readonly columns: CsvColumns
}

/** Reads a file piece by piece. Throws UnreadableFile if its header names no plants. */
export class CsvPlants {
  readonly #options: CsvOptions
  /** The file up to the end of the header. */
  #head: Uint8Array = new Uint8Array()
  #body: Body | undefined

  constructor(options: CsvOptions) {
    this.#options = options
  }

  /** Returns the plants that a piece completes. */
  read(piece: Uint8Array): readonly CsvPlant[] {
    if (this.#body !== undefined) return this.#toPlants(this.#body.reader.read(piece), this.#body)
    this.#head = joined(this.#head, piece)
    return this.#readHead(false)
  }

  /** Returns the remaining plants. */
  end(): readonly CsvPlant[] {
    return this.#body === undefined ? this.#readHead(true) : this.#toPlants(this.#body.reader.end(), this.#body)
  }

  #readHead(isAll: boolean): readonly CsvPlant[] {
    const { columns, needed, recordBytesMax, shownCharactersMax, onHeader } = this.#options
    const start = findStart(this.#head, isAll, columns, needed)
    if (start === undefined) {
      if (this.#head.length <= recordBytesMax) return []
      throw new UnreadableFile(`has a header longer than the ${recordBytesMax} bytes allowed`)
    }
    const reader = new CsvReader(start.form, start.line, recordBytesMax)
    const rest = this.#head.subarray(start.at)
    const [header, ...first] = isAll ? reader.end(rest) : reader.read(rest)
    if (header === undefined) throw new UnreadableFile('has an incomplete header')
    const { raw } = header
    if (!isUtf8(raw)) {
      throw new UnreadableFile('is not UTF-8; save it as "CSV UTF-8", or choose UTF-8 when you export it')
    }
    const shown = textOf(raw).slice(0, shownCharactersMax)
    const found = readColumns(splitRecord(raw, start.form), shown, columns, needed)
    onHeader(raw, start, found.ignored)
    this.#body = { reader, columns: found }
    this.#head = new Uint8Array()
    return this.#toPlants(first, this.#body)
  }

  #toPlants(records: readonly CsvRecord[], { columns }: Body): readonly CsvPlant[] {
    return records
      .filter((record) => !isBlank(record))
      .map((record) => {
        if (roundedPattern.test(record.fields[columns.id] ?? '')) this.#options.onMaybeRounded()
        return toPlant(record, columns)
      })
  }
}

/** Spreadsheets keep 15 digits of a number, and replace the rest with zeros. */
const roundedPattern = /^ *-?[1-9][0-9]{14}0+ *$/

/** Spreadsheets write an empty row as a line of separators. */
function isBlank({ fields, wrong }: CsvRecord): boolean {
  return wrong === undefined && fields.every((field) => field.trim() === '')
}

function toPlant(record: CsvRecord, columns: CsvColumns): CsvPlant {
  const { line, raw, fields, isCut } = record
  const wrong = record.wrong ?? whyNoPlant(record, columns)
  if (wrong !== undefined) return { line, raw, wrong, ...(isCut === true && { isCut }) }
  const members = columns.known.flatMap(([column, at]) => {
    const json = toJsonOf(column, fields[at] ?? '')
    return json === undefined ? [] : [`${JSON.stringify(column.name)}:${json}`]
  })
  return { line, raw, json: `{${members.join()}}` }
}

function whyNoPlant({ raw, fields, isEnded }: CsvRecord, { count, id, name }: CsvColumns): string | undefined {
  if (!isUtf8(raw)) return 'not valid UTF-8; save the file as "CSV UTF-8"'
  const isTooLong = fields.slice(count).some((field) => field.trim() !== '')
  // Excel omits empty fields at the end of a row. A file that was truncated within a row has no final line end.
  const isTooShort = fields.length < count && (!isEnded || fields.length <= Math.max(id, name))
  if (isTooLong || isTooShort) {
    return `the record has ${fields.length} ${fields.length === 1 ? 'field' : 'fields'}, the header ${count}`
  }
  const shown = (fields[id] ?? '').trim()
  if (!/^[-+]?[0-9]+(?:[.,][0-9]+)?(?:e[-+]?[0-9]+)?$/i.test(shown) || /^[-+]?[0-9]+$/.test(shown)) return undefined
  return `id: ${JSON.stringify(shown)} is not an integer; if a spreadsheet rounded it, format the column as text`
}

const strictDecoder = new TextDecoder('utf-8', { fatal: true })

function isUtf8(bytes: Uint8Array): boolean {
  try {
    strictDecoder.decode(bytes)
    return true
  } catch {
    return false
  }
}
