// Texts of others in the output of a command. A file or a pipe gets them as they are. A terminal gets escapes for what it
// would obey, and the person is told so once.

import { escapeControls } from '../domain/shown.ts'
import type { Terminal } from '../terminal.ts'

const note = 'Control characters are shown as escapes, such as \\u001b; a file or a pipe gets them as they are\n'

/** Gives texts as the standard output of one command may have them. Line feeds are for `escapeJson` to keep. */
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
