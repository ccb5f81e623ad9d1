// Parses CSV (RFC 4180) incrementally: record boundaries, fields and quoting errors. docs/decisions/0009-files.md
// explains why this is not a library. The home page also uses this file, so it needs nothing from Node.js.

import { UnreadableFile } from './records.ts'

/** For each such quote, the reader looks ahead as far as a record may reach. */
const unclosedQuotesMax = 1_000

export interface CsvRecord {
  /** Line on which the record begins. */
  readonly line: number
  /** The record exactly as in the file, without its line end; truncated if too long. */
  readonly raw: string
  readonly fields: readonly string[]
  /** False for the last record of a file without a final line end. */
  readonly isEnded: boolean
  readonly isCut?: true
  readonly wrong?: string
}

/** One parsed record: its end, without the line end, and the beginning of the next. */
interface CsvRow {
  readonly end: number
  readonly next: number
  readonly fields: readonly string[]
  readonly wrong?: string
}

/** Splits a line into its fields. */
export function splitBy(line: string, separator: string): readonly string[] {
  return new CsvReader(separator, line.length).read(line, true)[0]?.fields ?? []
}

export class CsvReader {
  readonly separator: string
  readonly #charactersMax: number
  /** A field without quotes around it. */
  readonly #plainField: RegExp
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
    this.#plainField = new RegExp(`[^${separator}\n]*`, 'y')
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
      const lineEnd = text.indexOf('\n', at)
      const line = text.slice(at, lineEnd === -1 ? text.length : lineEnd)
      if (line.length > this.#charactersMax + 1) {
        records.push(this.#tooLong(line, this.#line))
        at = this.#skipLine(text, at)
        continue
      }
      const row = line.includes('"') ? this.#scan(text, at, isLast) : this.#plain(text, at, lineEnd, isLast)
      if (row === undefined) break
      records.push(this.#toRecord(text, at, row))
      at = row.next
    }
    this.#rest = text.slice(at)
    return records
  }

  /** Returns the offset of the next line, or of the end of the text if the line continues. */
  #skipLine(text: string, from: number): number {
    const end = text.indexOf('\n', from)
    this.#isSkipping = end === -1
    if (end === -1) return text.length
    this.#line += 1
    return end + 1
  }

  /** Parses a record of one line without quotes, the common case. */
  #plain(text: string, at: number, lineEnd: number, isLast: boolean): CsvRow | undefined {
    if (lineEnd === -1 && !isLast) return undefined
    const { end, next } = endAt(text, at, lineEnd)
    return { end, next, fields: text.slice(at, end).split(this.separator) }
  }

  /** Parses a record with quotes, perhaps over several lines; undefined until its end arrives. */
  #scan(text: string, start: number, isLast: boolean): CsvRow | undefined {
    const fields: string[] = []
    for (let at = start; ; at += 1) {
      if (text[at] === '"') {
        const close = closingQuote(text, at + 1)
        const length = (close === -1 ? text.length : close) - start
        if (length > this.#charactersMax || (close === -1 && isLast)) {
          this.#countUnclosedQuote()
          // The record ends with its first line, so that the following lines are not lost.
          return broken(text, start, start, isLast, 'is never closed')
        }
        // Only the next character shows whether this is the closing quote.
        if (!isLast && (close === -1 || close + 1 === text.length)) return undefined
        fields.push(text.slice(at + 1, close).replaceAll('""', '"'))
        at = close + 1
      } else {
        this.#plainField.lastIndex = at
        const [field = ''] = this.#plainField.exec(text) ?? []
        at += field.length
        if (at === text.length && !isLast) return undefined
        // A quote in the middle of a field is literal, as in 5" pot. A quote after leading blanks was meant to open the
        // field.
        if (/^ +"/.test(field)) return broken(text, start, at, isLast, 'follows blanks at the beginning of a field')
        fields.push(text[at] === '\n' ? field.replace(/\r$/, '') : field)
      }
      if (text[at] === this.separator) continue
      const ending = text.startsWith('\r\n', at) ? at + 1 : at
      if (ending >= text.length || text[ending] === '\n') return { ...endAt(text, start, ending), fields }
      return broken(text, start, at, isLast, 'is closed before the end of its field')
    }
  }

  #countUnclosedQuote(): void {
    this.#unclosedQuotes += 1
    if (this.#unclosedQuotes <= unclosedQuotesMax) return
    throw new UnreadableFile(`has more than ${unclosedQuotesMax} quotes that are never closed; double each quote`)
  }

  #toRecord(text: string, at: number, { end, next, fields, wrong }: CsvRow): CsvRecord {
    const raw = text.slice(at, end)
    const line = this.#line
    this.#line += text.slice(at, next).split('\n').length - 1
    if (raw.length > this.#charactersMax) return this.#tooLong(raw, line)
    return { line, raw, fields, isEnded: next > end, ...(wrong !== undefined && { wrong }) }
  }

  #tooLong(raw: string, line: number): CsvRecord {
    const wrong = `the record is longer than the ${this.#charactersMax} characters allowed`
    return { line, raw: raw.slice(0, this.#charactersMax), fields: [], isEnded: true, isCut: true, wrong }
  }
}

/** A record with invalid quotes ends with the line in which the error was found. */
function broken(text: string, start: number, at: number, isLast: boolean, what: string): CsvRow | undefined {
  const lineEnd = text.indexOf('\n', at)
  if (lineEnd === -1 && !isLast) return undefined
  const wrong = `a quote ${what}; put the field in quotes and double each quote in it`
  return { ...endAt(text, start, lineEnd), fields: [], wrong }
}

/** @param lineEnd offset of the line end; -1 or past the end for the last record of a file without one. */
function endAt(text: string, start: number, lineEnd: number): { readonly end: number; readonly next: number } {
  if (lineEnd === -1 || lineEnd >= text.length) return { end: text.length, next: text.length }
  const hasReturn = lineEnd > start && text[lineEnd - 1] === '\r'
  return { end: hasReturn ? lineEnd - 1 : lineEnd, next: lineEnd + 1 }
}

/** The offset of the quote that ends a field, or -1. A doubled quote is part of the text. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at
  }
  return -1
}
