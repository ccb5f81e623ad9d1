// Foreign text in a command's output. Files and pipes get it unchanged. Terminals get escapes for control characters,
// and a note about them once.

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
export async function printJson(value: unknown, terminal: Terminal): Promise<void> {
  await print(terminal.stdout, escapeJson(`${JSON.stringify(value, null, 2)}\n`, escaping(terminal)))
}
