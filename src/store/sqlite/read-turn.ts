// Shares one read transaction among the reads of one event loop turn, because beginning and ending a transaction costs
// as much as finding a plant. docs/decisions/0026-reads.md explains why callers see no difference.

import type { DatabaseSync } from 'node:sqlite'

export interface ReadTurn {
  /** Call before each read. The first read of a turn, often the only one, uses SQLite's implicit transaction. */
  readonly begin: () => void
  /** Ends the transaction: the next read sees all commits. */
  readonly end: () => void
}

/** @param onFailure called if a transaction cannot be ended. */
export function shareTurns(reader: DatabaseSync, onFailure: (cause: unknown) => void): ReadTurn {
  let reads = 0
  let isShared = false
  const end = (): void => {
    reads = 0
    if (!isShared) return
    isShared = false
    try {
      reader.exec('COMMIT')
    } catch (cause) {
      onFailure(cause)
    }
  }
  const begin = (): void => {
    reads += 1
    if (reads === 1) setImmediate(end)
    if (reads !== 2 || isShared) return
    reader.exec('BEGIN')
    isShared = true
  }
  return { begin, end }
}
