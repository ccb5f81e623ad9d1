// Parses CSV (RFC 4180) incrementally: record boundaries, fields and quoting errors. docs/decisions/0009-files.md
// explains why this is not a library. The home page reads files with it, too, so it needs nothing of Node.js.

/** The bytes that separate the fields and the records of a file. */
export interface CsvForm {
  readonly separator: number
  /** LF, which CR may precede; or CR alone, as on old Macs. */
  readonly lineEnd: number
}

export interface CsvRecord {
  /** Line on which the record begins. */
  readonly line: number
  /** The record as it stands in the file, without its line end; truncated if too long. */
  readonly raw: Uint8Array
  readonly fields: readonly string[]
  /** False for the last record of a file without a final line end. */
  readonly isEnded: boolean
  readonly isCut?: true
  readonly wrong?: string
}

/** One parsed record: its end, and the beginning of the next. */
interface CsvRow {
  readonly end: number
  readonly next: number
  readonly fields: readonly string[]
  readonly wrong?: string
}

const quote = 0x22
export const lineFeed = 0x0a
export const carriageReturn = 0x0d

/** Splits a record into its fields. */
export function splitRecord(raw: Uint8Array, form: CsvForm): readonly string[] {
  return new CsvReader(form, 1, raw.length).end(raw)[0]?.fields ?? []
}

export class CsvReader {
  readonly #form: CsvForm
  readonly #recordBytesMax: number
  readonly #separator: string
  #line: number
  /** The beginning of an incomplete record. */
  #rest: Uint8Array = new Uint8Array()
  /** Whether to skip the rest of a line that is too long. */
  #isSkipping = false

  /** @param line the number of the first line. */
  constructor(form: CsvForm, line: number, recordBytesMax: number) {
    this.#form = form
    this.#recordBytesMax = recordBytesMax
    this.#separator = String.fromCharCode(form.separator)
    this.#line = line
  }

  /** Returns the records that a piece completes. */
  read(piece: Uint8Array): CsvRecord[] {
    return this.#take(joined(this.#rest, piece), false)
  }

  /** Returns the remaining records, with the last piece. */
  end(piece: Uint8Array = new Uint8Array()): CsvRecord[] {
    return this.#take(joined(this.#rest, piece), true)
  }

  #take(bytes: Uint8Array, isLast: boolean): CsvRecord[] {
    const records: CsvRecord[] = []
    let at = this.#isSkipping ? this.#skipLine(bytes) : 0
    let nextQuote = bytes.indexOf(quote, at)
    while (at < bytes.length) {
      const lineEnd = bytes.indexOf(this.#form.lineEnd, at)
      if (nextQuote !== -1 && nextQuote < at) nextQuote = bytes.indexOf(quote, at)
      const lineLength = (lineEnd === -1 ? bytes.length : lineEnd) - at
      if (lineLength > this.#recordBytesMax + 1) {
        records.push(this.#tooLong(bytes.subarray(at), this.#line))
        this.#isSkipping = true
        at += this.#skipLine(bytes.subarray(at))
        continue
      }
      const hasQuote = nextQuote !== -1 && nextQuote < at + lineLength
      const found = hasQuote ? this.#scan(bytes, at, isLast) : this.#plain(bytes, at, lineEnd, isLast)
      if (found === undefined) break
      records.push(this.#toRecord(bytes, at, found))
      at = found.next
    }
    this.#rest = bytes.subarray(at)
    return records
  }

  /** Returns the offset of the next line, or of the end of the bytes if the line continues. */
  #skipLine(bytes: Uint8Array): number {
    const end = bytes.indexOf(this.#form.lineEnd)
    if (end === -1) return bytes.length
    this.#isSkipping = false
    this.#line += 1
    return end + 1
  }

  /** Parses a record of one line without quotes, the common case. */
  #plain(bytes: Uint8Array, at: number, lineEnd: number, isLast: boolean): CsvRow | undefined {
    if (lineEnd === -1 && !isLast) return undefined
    const { end, next } = this.#endAt(bytes, at, lineEnd)
    return { end, next, fields: textOf(bytes.subarray(at, end)).split(this.#separator) }
  }

  /** Parses a record with quotes, perhaps over several lines; undefined until its end arrives. */
  #scan(bytes: Uint8Array, start: number, isLast: boolean): CsvRow | undefined {
    const { separator, lineEnd } = this.#form
    const fields: string[] = []
    for (let at = start; ; at += 1) {
      if (bytes[at] === quote) {
        const close = closingQuote(bytes, at + 1)
        const length = (close === -1 ? bytes.length : close) - start
        if (length > this.#recordBytesMax || (close === -1 && isLast)) {
          return this.#broken(bytes, start, start, isLast, 'is never closed')
        }
        // Only the next byte tells whether this is the closing quote.
        if (!isLast && (close === -1 || close + 1 === bytes.length)) return undefined
        fields.push(textOf(bytes.subarray(at + 1, close)).replaceAll('""', '"'))
        at = close + 1
      } else {
        const from = at
        while (at < bytes.length && bytes[at] !== separator && bytes[at] !== lineEnd) at += 1
        if (at === bytes.length && !isLast) return undefined
        // A quote in the middle of a field is literal, as in 5" pot. A quote after leading blanks was meant to open the
        // field.
        if (startsWithBlanksAndQuote(bytes, from)) {
          return this.#broken(bytes, start, from, isLast, 'follows blanks at the beginning of a field')
        }
        const end = bytes[at] === lineEnd || at === bytes.length ? this.#endAt(bytes, from, at).end : at
        fields.push(textOf(bytes.subarray(from, end)))
      }
      if (bytes[at] === separator) continue
      const isReturn = lineEnd === lineFeed && bytes[at] === carriageReturn && bytes[at + 1] === lineFeed
      const ending = isReturn ? at + 1 : at
      if (ending >= bytes.length || bytes[ending] === lineEnd) return { ...this.#endAt(bytes, start, ending), fields }
      return this.#broken(bytes, start, at, isLast, 'is closed before the end of its field')
    }
  }

  /**
   * Ends a record with invalid quotes at the line where the error shows. A record whose quote is never closed ends with
   * its first line, so that the following lines are not lost.
   */
  #broken(bytes: Uint8Array, start: number, at: number, isLast: boolean, what: string): CsvRow | undefined {
    const lineEnd = bytes.indexOf(this.#form.lineEnd, at)
    if (lineEnd === -1 && !isLast) return undefined
    const wrong = `a quote ${what}; put the field in quotes and double each quote in it`
    return { ...this.#endAt(bytes, start, lineEnd), fields: [], wrong }
  }

  /** @param lineEnd offset of the line end; -1 or past the end for the last record of a file without one. */
  #endAt(bytes: Uint8Array, start: number, lineEnd: number): { end: number; next: number } {
    if (lineEnd === -1 || lineEnd >= bytes.length) return { end: bytes.length, next: bytes.length }
    const hasReturn = this.#form.lineEnd === lineFeed && lineEnd > start && bytes[lineEnd - 1] === carriageReturn
    return { end: hasReturn ? lineEnd - 1 : lineEnd, next: lineEnd + 1 }
  }

  #toRecord(bytes: Uint8Array, at: number, { end, next, fields, wrong }: CsvRow): CsvRecord {
    const raw = bytes.subarray(at, end)
    const line = this.#line
    this.#line += countOf(bytes.subarray(at, next), this.#form.lineEnd)
    if (raw.length > this.#recordBytesMax) return this.#tooLong(raw, line)
    return { line, raw, fields, isEnded: next > end, ...(wrong !== undefined && { wrong }) }
  }

  #tooLong(raw: Uint8Array, line: number): CsvRecord {
    const wrong = `the record is longer than the ${this.#recordBytesMax} bytes allowed`
    return { line, raw: raw.subarray(0, this.#recordBytesMax), fields: [], isEnded: true, isCut: true, wrong }
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Invalid UTF-8 becomes replacement characters. */
export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

export function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  if (one.length === 0) return other
  const both = new Uint8Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}

/** The offset of the quote that ends a field, or -1. A doubled quote is part of the text. */
function closingQuote(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(quote, from); at !== -1; at = bytes.indexOf(quote, at + 2)) {
    if (bytes[at + 1] !== quote) return at
  }
  return -1
}

function startsWithBlanksAndQuote(bytes: Uint8Array, from: number): boolean {
  let at = from
  while (bytes[at] === 0x20) at += 1
  return at > from && bytes[at] === quote
}

function countOf(bytes: Uint8Array, byte: number): number {
  let count = 0
  for (let at = bytes.indexOf(byte); at !== -1; at = bytes.indexOf(byte, at + 1)) count += 1
  return count
}
