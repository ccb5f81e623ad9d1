// Parses the beginning of a CSV file as spreadsheets write it: the separator, the line ends and the columns. The home
// page does so, too.

import type { Column } from './columns.ts'
import { type CsvForm, carriageReturn, lineFeed, splitRecord, textOf } from './csv-fields.ts'
import { UnreadableFile } from './unreadable-file.ts'

/** The position of the header in the bytes so far, and how to split the file. */
export interface CsvStart {
  readonly form: CsvForm
  /** Offset and line number of the header. */
  readonly at: number
  readonly line: number
  /** The line `sep=;` that names the separator, including its line end; empty if there is none. */
  readonly mark: Uint8Array
}

/** The columns of a record. */
export interface CsvColumns {
  readonly count: number
  /** Those that are properties of a plant, with their index. */
  readonly known: readonly (readonly [column: Column, at: number])[]
  /** Indexes of the properties that every plant has; -1 for an id that is not needed. */
  readonly id: number
  readonly name: number
  /** The names of ignored columns. */
  readonly ignored: readonly string[]
}

/**
 * Finds the header, the first line that is not blank. The line before may name the separator, an Excel convention;
 * otherwise the separator is inferred from the header.
 *
 * @returns undefined if the header is incomplete and more of the file may follow.
 */
export function findStart(
  head: Uint8Array,
  isAll: boolean,
  columns: readonly Column[],
  needed: readonly string[],
): CsvStart | undefined {
  let mark: Uint8Array = new Uint8Array()
  let line = 1
  for (let at = 0; at < head.length; line += 1) {
    const end = endOfLine(head, at)
    const isOpen = end === head.length || (head[end] === carriageReturn && end + 1 === head.length)
    if (isOpen && !isAll) return undefined
    const next = head[end] === carriageReturn && head[end + 1] === lineFeed ? end + 2 : end + 1
    const text = textOf(head.subarray(at, end))
    const separator = /^"?sep=([\x20-\x7e\t])"?$/i.exec(text)?.[1]
    if (separator !== undefined && line === 1) {
      mark = head.subarray(at, next)
    } else if (!/^[\s,;"]*$/.test(text)) {
      const lineEnd = head[end] === carriageReturn && next === end + 1 ? carriageReturn : lineFeed
      return { form: { separator: separatorOf(text, mark, columns, needed), lineEnd }, at, line, mark }
    }
    at = next
  }
  if (isAll) throw new UnreadableFile(`has no header; ${whatIsNeeded}`)
  return undefined
}

const whatIsNeeded = 'its first line must name the columns: id, name, and the other properties of plants'

/** Reads the header. Throws UnreadableFile if required columns are missing, or any is repeated. */
export function readColumns(
  names: readonly string[],
  shown: string,
  columns: readonly Column[],
  needed: readonly string[],
): CsvColumns {
  const known = findColumns(names, columns)
  const repeated = known.find(([column], at) => known.findIndex(([other]) => other === column) !== at)
  if (repeated !== undefined) {
    throw new UnreadableFile(`has more than one column ${repeated[0].name}; its first line is: ${shown}`)
  }
  if (!hasAll(known, needed)) {
    throw new UnreadableFile(`has no column id or no column name; ${whatIsNeeded}, but it is: ${shown}`)
  }
  const atOf = (wanted: string): number => known.find(([{ name }]) => name === wanted)?.[1] ?? -1
  const others = names.map((name) => name.trim()).filter((_, at) => !known.some(([, index]) => index === at))
  const unnamed = others.filter((other) => other === '').length
  const ignored = others.filter((other) => other !== '')
  if (unnamed > 0) ignored.push(`${unnamed} unnamed`)
  return { count: names.length, known, id: atOf('id'), name: atOf('name'), ignored }
}

/**
 * Finds columns by their names, with their indexes. A name in another case stands for the property that no other column
 * has.
 */
export function findColumns(header: readonly string[], columns: readonly Column[]): CsvColumns['known'] {
  const isColumn = (name: string): boolean => columns.some((column) => column.name === name)
  // As it is, else without blanks around it, else in another case.
  const names = header.map((name) => (isColumn(name) ? name : name.trim()))
  return columns.flatMap((column) => {
    const indexesOf = (isIt: (name: string) => boolean): readonly (readonly [Column, number])[] =>
      names.flatMap((name, at) => (isIt(name) ? [[column, at] as const] : []))
    const exact = indexesOf((name) => name === column.name)
    if (exact.length > 0) return exact
    return indexesOf((name) => !isColumn(name) && name.toLowerCase() === column.name.toLowerCase())
  })
}

function hasAll(known: CsvColumns['known'], needed: readonly string[]): boolean {
  return needed.every((wanted) => known.some(([{ name }]) => name === wanted))
}

/** The end of the line at an offset: the first line break outside quotes. */
function endOfLine(head: Uint8Array, from: number): number {
  let isQuoted = false
  for (let at = from; at < head.length; at += 1) {
    if (head[at] === 0x22) isQuoted = !isQuoted
    if (!isQuoted && (head[at] === lineFeed || head[at] === carriageReturn)) return at
  }
  return head.length
}

/** The separator by which a line names the columns that are needed, or a comma. */
function separatorOf(header: string, mark: Uint8Array, columns: readonly Column[], needed: readonly string[]): number {
  const named = /sep=(.)/is.exec(textOf(mark))?.[1]
  const found = [',', ';', '\t'].find((each) => hasAll(findColumns(splitBy(header, each), columns), needed))
  return (named ?? found ?? ',').charCodeAt(0)
}

export function splitBy(line: string, separator: string): readonly string[] {
  return splitRecord(new TextEncoder().encode(line), { separator: separator.charCodeAt(0), lineEnd: lineFeed })
}
