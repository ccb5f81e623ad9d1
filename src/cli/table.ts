// Tables for people.

import type { Output } from '../terminal.ts'

const gap = 2
/** Minimum width of a truncated column. */
const widthMin = 8

/**
 * Formats rows, the first of which is the header, as aligned columns. On a terminal, truncates the widest columns until
 * rows fit, except the first column, which names the row.
 */
export function formatTable(rows: readonly (readonly string[])[], { isTTY, columns }: Output): string {
  const natural = (rows[0] ?? []).map((_, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0),
  )
  const widths = isTTY === true && columns !== undefined ? shrink(natural, columns) : natural
  const lines = rows.map((row) => row.map((cell, column) => fit(cell, widths[column] ?? 0)).join(' '.repeat(gap)))
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`
}

/** Pads a text to a width, or truncates it, ending it with dots. */
function fit(text: string, width: number): string {
  return text.length <= width ? text.padEnd(width) : `${text.slice(0, width - 3)}...`
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
