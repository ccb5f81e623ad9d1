// What commands print: tables, JSON, and foreign text. Terminals get escapes for control characters in foreign text, files
// and pipes get it unchanged.

import { escapeControls, escapeJson } from '../domain/shown.ts'
import { print, type Terminal } from '../terminal.ts'

/** Creates the function that prepares texts for a command's stdout. */
export function escaping({ stdout }: Terminal): (text: string) => string {
  return stdout.isTTY === true ? escapeControls : (text) => text
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
