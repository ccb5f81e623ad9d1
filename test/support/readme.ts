// Reads README.md and the pages of docs/ linked from it: the blocks of commands, and the output that they show.

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { inRing } from './ring.ts'

/** A command that stands in a block of a page. */
export interface ReadmeCommand {
  readonly text: string
  /** The status of HTTP that a comment at its end names. */
  readonly status: number | undefined
  /** What the block after it shows; `...` stands for any text, a line of it for any lines. */
  readonly output: string | undefined
  /** A program that is saved as `plants.mjs` before. */
  readonly program?: string
}

/** In the order in which they are followed. */
export const pages = inRing(['README.md'], ['README.md', 'docs/http.md', 'docs/commands.md'])

export const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * The commands in the order of the text: lines of `sh` blocks, those behind `$ ` in `console` blocks, and `js` blocks,
 * which are programs. A `console` or `text` block after a command shows what it prints.
 */
export async function readCommands(): Promise<readonly ReadmeCommand[]> {
  const texts = await Promise.all(pages.map((page) => readFile(`${root}/${page}`, 'utf8')))
  const text = texts.join('\n')
  const commands: ReadmeCommand[] = []
  for (const [, language, body = ''] of text.matchAll(/^```(sh|console|js|text)\n(.*?)^```$/gms)) {
    if (language === 'sh') commands.push(...body.trimEnd().split('\n').map(commandOf))
    else if (language === 'js') commands.push({ ...commandOf('node plants.mjs'), program: body })
    else if (body.startsWith('$ ')) {
      const [first = '', ...output] = body.split('\n')
      commands.push({ ...commandOf(first.slice(2)), output: output.join('\n') })
    } else {
      const before = commands.pop()
      if (before !== undefined) commands.push({ ...before, output: body })
    }
  }
  return commands
}

function commandOf(line: string): ReadmeCommand {
  return { text: line, status: Number(/ # (\d{3})$/.exec(line)?.[1]) || undefined, output: undefined }
}

/** Whether a command printed what README.md shows. */
export function isAsShown(shown: string, printed: string): boolean {
  const pattern = shown
    .trimEnd()
    .split('\n')
    .map((line) => (line === '...' ? '(?:.*\\n)*?' : `${line.split('...').map(escapePattern).join('.*')}\\n`))
  return new RegExp(`^${pattern.join('')}$`).test(`${printed.trimEnd()}\n`)
}

const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
