// Parses CSV (RFC 4180) incrementally: record boundaries, fields and quoting errors. docs/decisions/0009-files.md
// explains why this is not a library. The home page also uses this file, so it needs nothing from Node.js.

import { type PlantRecord, UnreadableFile } from './records.ts'

/** For each such quote, the reader looks ahead as far as a record may reach. */
const unclosedQuotesMax = 1_000

export interface CsvRecord extends Omit<PlantRecord, 'json'> {
  readonly fields: readonly string[]
  /** False for the last record of a file without a final line end. */
  readonly isEnded: boolean
}

/** One parsed record, and where the next one begins. */
interface CsvRow extends Pick<CsvRecord, 'fields' | 'wrong'> {
  readonly next: number
}

/** Splits a line into its fields. */
export function splitBy(line: string, separator: string): readonly string[] {
  return new CsvReader(separator, line.length).read(line, true)[0]?.fields ?? []
}

export class CsvReader {
  readonly separator: string
  readonly #charactersMax: number
  /** A field in quotes, perhaps without the last one, or without quotes around it. */
  readonly #field: RegExp
  #line = 1
  /** The beginning of an incomplete record. */
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

/** The offset after the line end, or at the end of the text. */
function endOfLine(text: string, from: number): number {
  return text.indexOf('\n', from) + 1 || text.length
}

function withoutEnd(text: string): string {
  return text.slice(0, text.endsWith('\r\n') ? -2 : text.endsWith('\n') ? -1 : undefined)
}
