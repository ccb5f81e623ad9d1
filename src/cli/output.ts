// The output of commands: tables, JSON, and untrusted text. On a terminal, control characters in untrusted text are
// escaped; files and pipes get it unchanged.

import { escapeControls, withoutControls } from '../domain/shown.ts'
import { print, type Terminal } from '../terminal.ts'

/** One value as JSON, and as the rows of a table, the first of which may be a header. */
export interface Listing {
  readonly value: unknown
  readonly rows: readonly (readonly string[])[]
}

export function escaping({ stdout }: Terminal): (text: string) => string {
  return stdout.isTTY === true ? escapeControls : (text) => text
}

/** Prints a value as indented JSON. Escapes within its lines do not change what it means. */
export async function printJson(value: unknown, terminal: Terminal): Promise<void> {
  await print(terminal.stdout, `${JSON.stringify(value, null, 2).replaceAll(/[^\n]+/g, escaping(terminal))}\n`)
}

export function formatTable(rows: Listing['rows']): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0),
  )
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`
}

const namesShownMax = 10

/** Notes the name of a property that an import or an export leaves out. */
export function noteLeftOut(names: Set<string>, name: string): void {
  if (names.size < namesShownMax) names.add(name)
}

export function leftOutSentence(names: ReadonlySet<string>): string {
  return `properties left out, which the document does not declare: ${withoutControls([...names].join(', '))}`
}
