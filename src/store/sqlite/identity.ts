// The files of an open store, told from others that take their names: a store whose file was deleted, or replaced by
// mv, goes on writing to a file that nobody finds again.

import { statSync } from 'node:fs'

const suffixes = ['', '-wal'] as const

export class FileIdentity {
  readonly #path: string
  readonly #names: ReadonlyMap<string, string>

  /** @param path of a store that is open for writing. */
  constructor(path: string) {
    this.#path = path
    this.#names = new Map(suffixes.map((suffix) => [suffix, nameOf(path + suffix)]))
  }

  /** Throws when a file is not under its name any more. Costs a few microseconds. */
  check(): void {
    for (const [suffix, name] of this.#names) {
      if (nameOf(this.#path + suffix) === name) continue
      throw new Error(`${this.#path}${suffix} was deleted or replaced under the running program`)
    }
  }
}

/** Device and inode: a name for a file that no other file has while it is open. */
function nameOf(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? 'missing' : `${stats.dev} ${stats.ino}`
}
