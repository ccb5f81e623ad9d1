// Reads of one turn of the event loop share a read transaction: to begin and to end one costs as much as to find a
// plant. docs/decisions/0012-reads-of-a-turn.md says why no caller sees the difference.

import type { DatabaseSync } from 'node:sqlite'

export class ReadTurn {
  readonly #reader: DatabaseSync
  readonly #onFailure: (cause: unknown) => void
  #reads = 0
  #isShared = false

  /** @param onFailure told why a transaction could not be ended. */
  constructor(reader: DatabaseSync, onFailure: (cause: unknown) => void) {
    this.#reader = reader
    this.#onFailure = onFailure
  }

  /** Called before each read. The first of a turn has SQLite's own transaction: most often it is the only one. */
  read(): void {
    this.#reads += 1
    if (this.#reads === 1) setImmediate(this.end)
    if (this.#reads !== 2 || this.#isShared) return
    this.#reader.exec('BEGIN')
    this.#isShared = true
  }

  /** The next read sees all that is committed by then. */
  readonly end = (): void => {
    this.#reads = 0
    if (!this.#isShared) return
    this.#isShared = false
    try {
      this.#reader.exec('COMMIT')
    } catch (cause) {
      this.#onFailure(cause)
    }
  }
}
