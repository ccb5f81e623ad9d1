// Tables for people.

import type { Output } from '../terminal.ts'

const gap = 2
/** Minimum width of a truncated column. */
const widthMin = 8
const ascii = /^[\x20-\x7e]*$/

/** Measures how many terminal columns a text occupies. */
type WidthOf = (text: string) => number

/**
 * Formats rows, the first of which is the header, as aligned columns. On a terminal, truncates the widest columns until
 * rows fit, except the first column, which names the row.
 */
export async function formatTable(rows: readonly (readonly string[])[], { isTTY, columns }: Output): Promise<string> {
  // Loading the library that measures Unicode text takes longer than the rest of a short command.
  const isAscii = rows.every((row) => row.every((cell) => ascii.test(cell)))
  const widthOf: WidthOf = isAscii ? ({ length }) => length : (await import('string-width')).default
  const natural = (rows[0] ?? []).map((_, column) =>
    rows.reduce((width, row) => Math.max(width, widthOf(row[column] ?? '')), 0),
  )
  const widths = isTTY === true && columns !== undefined ? shrink(natural, columns) : natural
  const lines = rows.map((row) =>
    row.map((cell, column) => pad(cell, widths[column] ?? 0, widthOf)).join(' '.repeat(gap)),
  )
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`
}

function pad(cell: string, width: number, widthOf: WidthOf): string {
  const fitting = fitWidth(cell, width, widthOf)
  return fitting + ' '.repeat(width - widthOf(fitting))
}

/** Truncates a text to a number of columns, ending it with dots. */
export function fitWidth(text: string, columns: number, widthOf: WidthOf): string {
  if (widthOf(text) <= columns) return text
  const dots = '...'.slice(0, columns)
  let fitting = ''
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (widthOf(fitting + segment + dots) > columns) break
    fitting += segment
  }
  return fitting + dots
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
