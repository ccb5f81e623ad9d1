// The beginning of a CSV file, as spreadsheets write it: which separator and line ends it has, and where its columns
// are.

import { limits } from '../limits.ts'
import { type CsvForm, carriageReturn, lineFeed, splitRecord } from './csv-fields.ts'
import { csvColumns } from './formats.ts'
import { UnreadableFile } from './records.ts'

/** Where the header is in what has come of a file, and how the file is to be split. */
export interface CsvStart {
  readonly form: CsvForm
  /** Offset and line number of the header. */
  readonly at: number
  readonly line: number
  /** The line `sep=;` that names the separator, its line end included; without bytes when there is none. */
  readonly mark: Buffer
}

/** Where a column is in each record; -1 for one that the file does not have. */
export interface CsvColumns {
  readonly count: number
  readonly id: number
  readonly name: number
  readonly tag: number
  /** The names of columns that are not read. */
  readonly ignored: readonly string[]
}

/**
 * Finds the header, the first line that is not blank. The line before it may name the separator, as Excel understands
 * it; else the header itself tells it.
 *
 * @returns undefined when the header has not come whole, unless that is all of the file.
 */
export function findStart(head: Buffer, isAll: boolean): CsvStart | undefined {
  let mark: Buffer = Buffer.alloc(0)
  let line = 1
  for (let at = 0; at < head.length; line += 1) {
    const end = endOfLine(head, at)
    const isOpen = end === head.length || (head[end] === carriageReturn && end + 1 === head.length)
    if (isOpen && !isAll) return undefined
    const next = head[end] === carriageReturn && head[end + 1] === lineFeed ? end + 2 : end + 1
    const text = head.toString('utf8', at, end)
    const separator = /^"?sep=([\x20-\x7e\t])"?$/i.exec(text)?.[1]
    if (separator !== undefined && line === 1) {
      mark = head.subarray(at, next)
    } else if (!/^[\s,;"]*$/.test(text)) {
      const lineEnd = head[end] === carriageReturn && next === end + 1 ? carriageReturn : lineFeed
      return { form: { separator: separatorOf(text, mark), lineEnd }, at, line, mark }
    }
    at = next
  }
  if (isAll) throw new UnreadableFile(`has no header; ${whatIsNeeded}`)
  return undefined
}

const whatIsNeeded = 'its first line must name the columns: id, name and optionally tag'

/** Reads the header. Throws UnreadableFile when plants cannot be read from these columns. */
export function readColumns(names: readonly string[], raw: Buffer): CsvColumns {
  const columns = names.map((name) => name.trim().toLowerCase())
  const shown = raw.toString('utf8').slice(0, limits.recordCharactersShown)
  if (!columns.includes('id') || !columns.includes('name')) {
    throw new UnreadableFile(`has no column id or no column name; ${whatIsNeeded}, but it is: ${shown}`)
  }
  const repeated = csvColumns.find((name) => columns.indexOf(name) !== columns.lastIndexOf(name))
  if (repeated !== undefined) {
    throw new UnreadableFile(`has more than one column ${repeated}; its first line is: ${shown}`)
  }
  const [id = -1, name = -1, tag = -1] = csvColumns.map((column) => columns.indexOf(column))
  const others = names.filter((_, index) => ![id, name, tag].includes(index)).map((other) => other.trim())
  const unnamed = others.filter((other) => other === '').length
  const ignored = others.filter((other) => other !== '')
  return { count: names.length, id, name, tag, ignored: unnamed === 0 ? ignored : [...ignored, `${unnamed} unnamed`] }
}

/** The end of the line that begins at an offset: its first line break outside quotes. */
function endOfLine(head: Buffer, from: number): number {
  let isQuoted = false
  for (let at = from; at < head.length; at += 1) {
    if (head[at] === 0x22) isQuoted = !isQuoted
    if (!isQuoted && (head[at] === lineFeed || head[at] === carriageReturn)) return at
  }
  return head.length
}

function separatorOf(header: string, mark: Buffer): number {
  const named = /sep=(.)/is.exec(mark.toString('utf8'))?.[1]
  return (named ?? findSeparator(header) ?? ',').charCodeAt(0)
}

/** The separator by which a line has the columns that are needed, if there is one. */
export function findSeparator(line: string): string | undefined {
  return [',', ';', '\t'].find((separator) => {
    const names = splitRecord(Buffer.from(line), { separator: separator.charCodeAt(0), lineEnd: lineFeed })
    return ['id', 'name'].every((column) => names.some((name) => name.trim().toLowerCase() === column))
  })
}
