// The files of an open store, told from others that take their names: a store whose file was deleted, or replaced by
// mv, goes on writing to a file that no start finds again. So do two processes that have different indexes of one log:
// they overwrite each other's changes.

import { statSync } from 'node:fs'
import { OperatorError } from '../../../domain/errors.ts'

/** What is put behind a store's path: the file itself, its log, and the index of the log. */
export type Suffix = '' | '-wal' | '-shm'

export const suffixes: readonly Suffix[] = ['', '-wal', '-shm']

/** What each file is, by its suffix. */
export type FileNames = ReadonlyMap<Suffix, string>

/** A file of a store is not under its name any more. */
export class LostFileError extends OperatorError {}

export class FileIdentity {
  readonly #path: string
  /** What is to be under each name. */
  readonly names: FileNames

  /** @param names what `namesOf` gave when the files were opened. */
  constructor(path: string, names: FileNames) {
    this.#path = path
    this.names = names
  }

  /** The files that are not under their names any more. Costs a few microseconds. */
  findLost(): readonly Suffix[] {
    return suffixes.filter((suffix) => {
      const name = this.names.get(suffix)
      return name !== undefined && nameOf(this.#path + suffix) !== name
    })
  }

  /** Throws LostFileError when a file is not under its name any more. */
  check(): void {
    const [lost] = this.findLost()
    if (lost === undefined) return
    throw new LostFileError(`${this.#path}${lost} was deleted or replaced while the program was running`)
  }
}

/** What is there now: of the file itself before it is opened, of its log and index once they are there. */
export function namesOf(path: string, wanted: readonly Suffix[]): FileNames {
  return new Map(wanted.map((suffix) => [suffix, nameOf(path + suffix)]))
}

/** Device and inode: a name for a file that no other file has while it is open. */
function nameOf(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? 'missing' : `${stats.dev} ${stats.ino}`
}
