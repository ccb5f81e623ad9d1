// The files of an open store, told from others that take their names: a store whose file was deleted, or replaced by
// mv, goes on writing to a file that nobody finds again.

import { statSync } from 'node:fs'

/** What a file is, by what is put behind the store's path: nothing, or `-wal`. */
export type FileNames = ReadonlyMap<string, string>

export class FileIdentity {
  readonly #path: string
  /** What is to be under each name. */
  readonly names: FileNames

  /** @param names what `namesOf` gave when the files were opened. */
  constructor(path: string, names: FileNames) {
    this.#path = path
    this.names = names
  }

  /** Throws when a file is not under its name any more. Costs a few microseconds. */
  check(): void {
    for (const [suffix, name] of this.names) {
      if (nameOf(this.#path + suffix) === name) continue
      throw new Error(`${this.#path}${suffix} was deleted or replaced while the program was running`)
    }
  }
}

/** What is there now: of the file itself before it is opened, of its log once it is there. */
export function namesOf(path: string, suffixes: readonly ('' | '-wal')[]): FileNames {
  return new Map(suffixes.map((suffix) => [suffix, nameOf(path + suffix)]))
}

/** Device and inode: a name for a file that no other file has while it is open. */
function nameOf(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? 'missing' : `${stats.dev} ${stats.ino}`
}
