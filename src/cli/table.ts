// Tables for people.

import type { Output } from '../terminal.ts'
import { displayWidth, fitWidth } from './display-width.ts'

const gap = 2
/** What is left of a column at the least, where there was more. */
const widthMin = 8

/**
 * Rows as lines of columns, the first row being the header. On a terminal the widest columns are cut until a row fits
 * into a line, except the first one, which names the row.
 */
export function formatTable(rows: readonly (readonly string[])[], { isTTY, columns }: Output): string {
  const natural = (rows[0] ?? []).map((_, column) => widthOf(rows, column))
  const widths = isTTY === true && columns !== undefined ? shrink(natural, columns) : natural
  const lines = rows.map((row) => row.map((cell, column) => pad(cell, widths[column] ?? 0)).join(' '.repeat(gap)))
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`
}

function widthOf(rows: readonly (readonly string[])[], column: number): number {
  return rows.reduce((width, row) => Math.max(width, displayWidth(row[column] ?? '')), 0)
}

function pad(cell: string, width: number): string {
  const fitting = fitWidth(cell, width)
  return fitting + ' '.repeat(width - displayWidth(fitting))
}

function shrink(natural: readonly number[], columns: number): readonly number[] {
  const widths = [...natural]
  const total = (): number => widths.reduce((sum, width) => sum + width, gap * (widths.length - 1))
  while (total() > columns) {
    const widest = Math.max(...widths.slice(1))
    if (widest <= widthMin) break
    widths[widths.lastIndexOf(widest)] = widest - 1
  }
  return widths
}
