// Detects that a file of an open store was deleted or replaced. A store would otherwise keep writing to a file that no
// restart finds. Processes with different indexes of one log would overwrite each other's changes.

import { statSync } from 'node:fs'
import { OperatorError } from '../../../domain/errors.ts'

/** The suffixes of the file itself, its log, and the index of the log. */
export type Suffix = '' | '-wal' | '-shm'

export const suffixes: readonly Suffix[] = ['', '-wal', '-shm']

/** The identity of each file, by its suffix. */
export type FileNames = ReadonlyMap<Suffix, string>

/** A file of a store was deleted or replaced. */
export class LostFileError extends OperatorError {}

export class FileIdentity {
  readonly #path: string
  /** The expected identities. */
  readonly names: FileNames

  /** @param names the result of `namesOf` when the files were opened. */
  constructor(path: string, names: FileNames) {
    this.#path = path
    this.names = names
  }

  /** The deleted or replaced files. Takes a few microseconds. */
  findLost(): readonly Suffix[] {
    return suffixes.filter((suffix) => {
      const name = this.names.get(suffix)
      return name !== undefined && nameOf(this.#path + suffix) !== name
    })
  }

  /** Throws LostFileError if a file was deleted or replaced. */
  check(): void {
    const [lost] = this.findLost()
    if (lost === undefined) return
    throw new LostFileError(`${this.#path}${lost} was deleted or replaced while the program was running`)
  }
}

/** The current identities. Read that of the file before opening it, and those of the log and index when they exist. */
export function namesOf(path: string, wanted: readonly Suffix[]): FileNames {
  return new Map(wanted.map((suffix) => [suffix, nameOf(path + suffix)]))
}

/** Device and inode, which are unique while the file is open. */
function nameOf(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? 'missing' : `${stats.dev} ${stats.ino}`
}
