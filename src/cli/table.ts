// Tables for people.

const gap = '  '

/** Formats rows, the first of which is the header, as aligned columns. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0),
  )
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(gap))
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`
}
