// CSV (RFC 4180), piece by piece: where each record begins and ends, its fields, and what is wrong with its quotes.
// docs/decisions/0009-files.md says why this is not a library.

/** How the fields and the records of a file end: a byte each. */
export interface CsvForm {
  readonly separator: number
  /** A line feed, before which a carriage return may stand; or a carriage return alone, as on old Macs. */
  readonly lineEnd: number
}

export interface CsvRecord {
  /** Line that the record begins in. */
  readonly line: number
  /** As it stands in the file, without its line end; of one that is too long only the beginning. */
  readonly raw: Buffer
  readonly fields: readonly string[]
  /** False for the last record of a file that does not end with a line end. */
  readonly isEnded: boolean
  readonly isCut?: true
  readonly wrong?: string
}

/** What was found of one record: where it ends, and where the next one begins. */
interface CsvRow {
  readonly end: number
  readonly next: number
  readonly fields: readonly string[]
  readonly wrong?: string
}

const quote = 0x22
export const lineFeed = 0x0a
export const carriageReturn = 0x0d

/** The fields of one record. */
export function splitRecord(raw: Buffer, form: CsvForm): readonly string[] {
  return new CsvReader(form, 1, raw.length).end(raw)[0]?.fields ?? []
}

export class CsvReader {
  readonly #form: CsvForm
  readonly #recordBytesMax: number
  readonly #separator: string
  #line: number
  /** What has come of a record that is not complete. */
  #rest: Buffer = Buffer.alloc(0)
  /** In a line that is too long, up to its end. */
  #isSkipping = false

  /** @param line the number of the first line that comes. */
  constructor(form: CsvForm, line: number, recordBytesMax: number) {
    this.#form = form
    this.#recordBytesMax = recordBytesMax
    this.#separator = String.fromCharCode(form.separator)
    this.#line = line
  }

  /** The records that are complete with a piece. */
  read(piece: Buffer): CsvRecord[] {
    return this.#take(this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]), false)
  }

  /** The records that are left, with the last piece. */
  end(piece: Buffer = Buffer.alloc(0)): CsvRecord[] {
    return this.#take(Buffer.concat([this.#rest, piece]), true)
  }

  #take(bytes: Buffer, isLast: boolean): CsvRecord[] {
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

  /** Gives where the next line begins, or the end of the bytes when the line goes on. */
  #skipLine(bytes: Buffer): number {
    const end = bytes.indexOf(this.#form.lineEnd)
    if (end === -1) return bytes.length
    this.#isSkipping = false
    this.#line += 1
    return end + 1
  }

  /** A record of one line without quotes: nearly every one. */
  #plain(bytes: Buffer, at: number, lineEnd: number, isLast: boolean): CsvRow | undefined {
    if (lineEnd === -1 && !isLast) return undefined
    const { end, next } = this.#endAt(bytes, at, lineEnd)
    return { end, next, fields: bytes.toString('utf8', at, end).split(this.#separator) }
  }

  /** A record with quotes, perhaps over several lines; undefined when its end has not come yet. */
  #scan(bytes: Buffer, start: number, isLast: boolean): CsvRow | undefined {
    const { separator, lineEnd } = this.#form
    const fields: string[] = []
    for (let at = start; ; at += 1) {
      if (bytes[at] === quote) {
        const close = closingQuote(bytes, at + 1)
        const length = (close === -1 ? bytes.length : close) - start
        if (length > this.#recordBytesMax || (close === -1 && isLast)) {
          return this.#broken(bytes, start, start, isLast, 'is never closed')
        }
        // What follows a closing quote tells whether it is one.
        if (!isLast && (close === -1 || close + 1 === bytes.length)) return undefined
        fields.push(bytes.toString('utf8', at + 1, close).replaceAll('""', '"'))
        at = close + 1
      } else {
        const from = at
        while (at < bytes.length && bytes[at] !== separator && bytes[at] !== lineEnd) at += 1
        if (at === bytes.length && !isLast) return undefined
        // In the middle of a field a quote is itself, as in 5" pot; after blanks it was meant to open the field.
        if (startsWithBlanksAndQuote(bytes, from)) {
          return this.#broken(bytes, start, from, isLast, 'follows blanks at the beginning of a field')
        }
        const end = bytes[at] === lineEnd || at === bytes.length ? this.#endAt(bytes, from, at).end : at
        fields.push(bytes.toString('utf8', from, end))
      }
      if (bytes[at] === separator) continue
      const isReturn = lineEnd === lineFeed && bytes[at] === carriageReturn && bytes[at + 1] === lineFeed
      const ending = isReturn ? at + 1 : at
      if (ending >= bytes.length || bytes[ending] === lineEnd) return { ...this.#endAt(bytes, start, ending), fields }
      return this.#broken(bytes, start, at, isLast, 'is closed before the end of its field')
    }
  }

  /**
   * A record whose quotes are wrong ends with the line in which that shows; one whose quote is never closed with its
   * first line, so that what follows is not lost with it.
   */
  #broken(bytes: Buffer, start: number, at: number, isLast: boolean, what: string): CsvRow | undefined {
    const lineEnd = bytes.indexOf(this.#form.lineEnd, at)
    if (lineEnd === -1 && !isLast) return undefined
    const wrong = `a quote ${what}; put the field in quotes and double each quote in it`
    return { ...this.#endAt(bytes, start, lineEnd), fields: [], wrong }
  }

  /** @param lineEnd where the line end is; -1 or past the end for the last record of a file without one. */
  #endAt(bytes: Buffer, start: number, lineEnd: number): { end: number; next: number } {
    if (lineEnd === -1 || lineEnd >= bytes.length) return { end: bytes.length, next: bytes.length }
    const hasReturn = this.#form.lineEnd === lineFeed && lineEnd > start && bytes[lineEnd - 1] === carriageReturn
    return { end: hasReturn ? lineEnd - 1 : lineEnd, next: lineEnd + 1 }
  }

  #toRecord(bytes: Buffer, at: number, { end, next, fields, wrong }: CsvRow): CsvRecord {
    const raw = bytes.subarray(at, end)
    const line = this.#line
    this.#line += countOf(bytes.subarray(at, next), this.#form.lineEnd)
    if (raw.length > this.#recordBytesMax) return this.#tooLong(raw, line)
    return { line, raw, fields, isEnded: next > end, ...(wrong !== undefined && { wrong }) }
  }

  #tooLong(raw: Buffer, line: number): CsvRecord {
    const wrong = `the record is longer than the ${this.#recordBytesMax} bytes allowed`
    return { line, raw: raw.subarray(0, this.#recordBytesMax), fields: [], isEnded: true, isCut: true, wrong }
  }
}

/** The quote that ends a field, -1 when there is none: two of them are one that belongs to the text. */
function closingQuote(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(quote, from); at !== -1; at = bytes.indexOf(quote, at + 2)) {
    if (bytes[at + 1] !== quote) return at
  }
  return -1
}

function startsWithBlanksAndQuote(bytes: Buffer, from: number): boolean {
  let at = from
  while (bytes[at] === 0x20) at += 1
  return at > from && bytes[at] === quote
}

function countOf(bytes: Buffer, byte: number): number {
  let count = 0
  for (let at = bytes.indexOf(byte); at !== -1; at = bytes.indexOf(byte, at + 1)) count += 1
  return count
}
