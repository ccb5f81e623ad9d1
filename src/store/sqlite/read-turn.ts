// Shares one read transaction among the reads of one event loop turn, because beginning and ending a transaction costs
// as much as finding a plant. docs/decisions/0026-reads.md explains why callers see no difference.

import type { DatabaseSync } from 'node:sqlite'

export class ReadTurn {
  readonly #reader: DatabaseSync
  readonly #onFailure: (cause: unknown) => void
  #reads = 0
  #isShared = false

  /** @param onFailure called if a transaction cannot be ended. */
  constructor(reader: DatabaseSync, onFailure: (cause: unknown) => void) {
    this.#reader = reader
    this.#onFailure = onFailure
  }

  /** Call before each read. The first read of a turn, often the only one, uses SQLite's implicit transaction. */
  read(): void {
    this.#reads += 1
    if (this.#reads === 1) setImmediate(this.end)
    if (this.#reads !== 2 || this.#isShared) return
    this.#reader.exec('BEGIN')
    this.#isShared = true
  }

  /** Ends the transaction: the next read sees all commits. */
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
