// Parses the beginning of a CSV file as spreadsheets write it: the separator, the line ends and the columns.

import { limits } from '../limits.ts'
import type { Column } from './columns.ts'
import { type CsvForm, carriageReturn, lineFeed, splitRecord } from './csv-fields.ts'
import { findColumns, findSeparator } from './header-columns.ts'
import { UnreadableFile } from './records.ts'

/** The position of the header in the bytes so far, and how to split the file. */
export interface CsvStart {
  readonly form: CsvForm
  /** Offset and line number of the header. */
  readonly at: number
  readonly line: number
  /** The line `sep=;` that names the separator, including its line end; empty if there is none. */
  readonly mark: Buffer
}

/** The columns of a record. */
export interface CsvColumns {
  readonly count: number
  /** Those that are properties of a plant, with their index. */
  readonly known: readonly (readonly [column: Column, at: number])[]
  /** Indexes of the properties that every plant has. */
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
export function findStart(head: Buffer, isAll: boolean, columns: readonly Column[]): CsvStart | undefined {
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
      return { form: { separator: separatorOf(text, mark, columns), lineEnd }, at, line, mark }
    }
    at = next
  }
  if (isAll) throw new UnreadableFile(`has no header; ${whatIsNeeded}`)
  return undefined
}

const whatIsNeeded = 'its first line must name the columns: id, name, and the other properties of plants'

/** Reads the header. Throws UnreadableFile if required columns are missing, or any is repeated. */
export function readColumns(names: readonly string[], raw: Buffer, columns: readonly Column[]): CsvColumns {
  const shown = raw.toString('utf8').slice(0, limits.recordCharactersShown)
  const { known, repeated, hasIdAndName } = findColumns(names, columns)
  if (repeated !== undefined) {
    throw new UnreadableFile(`has more than one column ${repeated}; its first line is: ${shown}`)
  }
  if (!hasIdAndName) {
    throw new UnreadableFile(`has no column id or no column name; ${whatIsNeeded}, but it is: ${shown}`)
  }
  const atOf = (wanted: string): number => known.find(([{ name }]) => name === wanted)?.[1] ?? -1
  const others = names.map((name) => name.trim()).filter((_, at) => !known.some(([, index]) => index === at))
  const unnamed = others.filter((other) => other === '').length
  const ignored = others.filter((other) => other !== '')
  if (unnamed > 0) ignored.push(`${unnamed} unnamed`)
  return { count: names.length, known, id: atOf('id'), name: atOf('name'), ignored }
}

/** The end of the line at an offset: the first line break outside quotes. */
function endOfLine(head: Buffer, from: number): number {
  let isQuoted = false
  for (let at = from; at < head.length; at += 1) {
    if (head[at] === 0x22) isQuoted = !isQuoted
    if (!isQuoted && (head[at] === lineFeed || head[at] === carriageReturn)) return at
  }
  return head.length
}

function separatorOf(header: string, mark: Buffer, columns: readonly Column[]): number {
  const named = /sep=(.)/is.exec(mark.toString('utf8'))?.[1]
  return (named ?? findSeparator(header, columns, splitBy) ?? ',').charCodeAt(0)
}

function splitBy(line: string, separator: string): readonly string[] {
  return splitRecord(Buffer.from(line), { separator: separator.charCodeAt(0), lineEnd: lineFeed })
}
