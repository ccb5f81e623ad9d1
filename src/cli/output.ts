// What commands print: tables, JSON, and foreign text. Files and pipes get foreign text unchanged. Terminals get escapes
// for control characters, and a note about them once.

import { escapeControls, escapeJson } from '../domain/shown.ts'
import { print, type Terminal } from '../terminal.ts'

const note = 'Control characters are shown as escapes, such as \\u001b; files and pipes get them unchanged\n'

/** Creates the function that prepares texts for a command's stdout. `escapeJson` keeps line feeds. */
export function escaping({ stdout, stderr }: Terminal): (text: string) => string {
  if (stdout.isTTY !== true) return (text) => text
  let isTold = false
  return (text) => {
    const escaped = escapeControls(text)
    if (escaped !== text && !isTold) {
      isTold = true
      stderr.write(note)
    }
    return escaped
  }
}

/** Prints a value as indented JSON. */
export async function printJson(value: unknown, terminal: Terminal): Promise<undefined> {
  await print(terminal.stdout, escapeJson(`${JSON.stringify(value, null, 2)}\n`, escaping(terminal)))
}

/** Formats rows, the first of which may be a header, as aligned columns. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0),
  )
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`
}
