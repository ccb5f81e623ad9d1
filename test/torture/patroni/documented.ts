// The cluster of docs/operating.md, as an operator would copy it from there: files by their paths, and commands.

import { readFileSync } from 'node:fs'

const document = new URL('../../../docs/operating.md', import.meta.url)
const title = 'A cluster that fails over by itself'

/** A block of the section: what is in it, and the paths that the paragraph before it names. */
interface Block {
  readonly language: string
  readonly text: string
  readonly paths: readonly string[]
}

export class Documented {
  readonly #blocks: readonly Block[]

  constructor() {
    const text = readFileSync(document, 'utf8')
    const [, section = ''] = new RegExp(`^## ${title}\n(.*?)^## `, 'ms').exec(text) ?? []
    const blocks = section.matchAll(/^([^\n]+)\n\n( *)```(\w*)\n(.*?)\n *```$/gms)
    this.#blocks = [...blocks].map(([, before = '', indent = '', language = '', body = '']) => ({
      language,
      text: `${body.replaceAll(new RegExp(`^${indent}`, 'gm'), '')}\n`,
      paths: [...before.matchAll(/`(\/[^`]+)`/g)].map(([, path = '']) => path),
    }))
  }

  /** What is to be written into a file. */
  file(path: string): string {
    const found = this.#blocks.find(({ paths }) => paths.includes(path))
    if (found === undefined) throw new Error(`docs/operating.md has no ${path} in "${title}"`)
    return found.text
  }

  /** The lines of its shell blocks in which a program is run, and those before them in their blocks. */
  commands(program: string): readonly string[] {
    const isOf = (line: string): boolean => line.startsWith(`${program} `)
    const shell = this.#blocks.filter(({ language }) => language === 'sh').map(({ text }) => text.trimEnd().split('\n'))
    const found = shell.flatMap((lines) => (lines.some(isOf) ? lines : []))
    if (found.length === 0) throw new Error(`docs/operating.md has no ${program} in "${title}"`)
    return found
  }
}

/** The variables of a file of systemd's. */
export function readVariables(text: string): NodeJS.ProcessEnv {
  return Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]))
}
