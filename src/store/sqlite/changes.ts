// Reads the log of changes.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { ChangePage, ChangeQuery } from '../../domain/change.ts'
import type { Limits } from '../../limits.ts'
import { type ChangeRow, changePageOf, endOf, positionText, toPosition } from '../change-log.ts'

const columns = 'first, changes, at_ms AS atMs, lines'

export class ChangeLog {
  readonly #limits: Limits
  readonly #newest: StatementSync
  readonly #bytes: StatementSync
  readonly #from: StatementSync

  /** @param reader a connection that sees every committed change. */
  constructor(reader: DatabaseSync, limits: Limits) {
    this.#limits = limits
    this.#newest = prepare(reader, `SELECT ${columns} FROM changes ORDER BY first DESC LIMIT 1`)
    this.#bytes = prepare(
      reader,
      `SELECT (SELECT end_bytes FROM changes ORDER BY first DESC LIMIT 1)
        - (SELECT end_bytes FROM changes ORDER BY first LIMIT 1)`,
    )
    this.#bytes.setReturnArrays(true)
    this.#from = prepare(
      reader,
      `SELECT ${columns} FROM changes
        WHERE first >= coalesce((SELECT first FROM changes WHERE first <= ? ORDER BY first DESC LIMIT 1), 1) ORDER BY first`,
    )
  }

  /** The bytes of all changes that are kept. */
  measure(): number {
    const [bytes] = this.#bytes.get() as unknown as [bigint]
    return Number(bytes)
  }

  /** Throws AppError `positionGone`. */
  list(query: ChangeQuery): ChangePage {
    if (query.after === 'now') {
      const newest = this.#newest.get() as ChangeRow | undefined
      if (newest === undefined) throw new TypeError('the log of changes has no beginning')
      return { changes: [], next: positionText(endOf(newest)), isLast: true }
    }
    const after = query.after === undefined ? undefined : toPosition(query.after)
    const rows = this.#from.iterate(after?.number ?? null) as unknown as Iterable<ChangeRow>
    return changePageOf(rows, after, query, this.#limits)
  }
}

function prepare(reader: DatabaseSync, sql: string): StatementSync {
  const statement = reader.prepare(sql)
  statement.setReadBigInts(true)
  return statement
}
