// The log of changes. Rows enter it without numbers, in the transactions of the changes, so that no transaction waits for
// another. Whoever reads the log first numbers the rows that have been committed since: in the order of their places, which
// for one plant is the order of its changes. A row of a transaction that is still open, however long, is numbered after
// its commit, behind the others.

import type { ChangePage, ChangeQuery } from '../../domain/change.ts'
import { changePageOf, charactersMaxOf, emptyPageOf, toPosition } from '../change-log.ts'
import type { StoreLimits } from '../engine.ts'
import { commonStatements } from '../rows.ts'
import { type Connection, named } from './connections/connection.ts'
import { refusalOf } from './connections/failures.ts'

/** Statements that may wait for the confirmation of a standby. */
const pendingMax = 20
/** Rows in which a page looks for changes of a kind. */
const rowsOfSearch = 1_000
/** Rows that get their numbers in one transaction. */
const rowsOfTransaction = 1_000

const statements = named({
  findUnnumbered: 'SELECT 1 FROM changes WHERE first IS NULL LIMIT 1',
  /** Servers number rows one after another. The next statement sees what the one before has numbered. */
  lockEnd: 'SELECT next FROM changes_end WHERE one = 1 FOR UPDATE',
  numberRows: `WITH new AS (
      SELECT place, sum(changes) OVER (ORDER BY place) - changes AS before, sum(bytes) OVER (ORDER BY place) AS bytes
      FROM (SELECT place, changes, octet_length(lines) AS bytes
        FROM changes WHERE first IS NULL ORDER BY place LIMIT $1) AS oldest),
    numbered AS (
      UPDATE changes
      SET first = (changes_end.next + new.before)::int8, end_bytes = (changes_end.bytes + new.bytes)::int8
      FROM new, changes_end WHERE changes.place = new.place
      RETURNING changes.changes, octet_length(changes.lines) AS bytes)
    UPDATE changes_end SET next = next + (SELECT coalesce(sum(changes), 0) FROM numbered)::int8,
      bytes = bytes + (SELECT coalesce(sum(numbered.bytes), 0) FROM numbered)::int8
    RETURNING (SELECT count(*) FROM numbered)`,
  newestChanges: commonStatements.newestChanges,
  /** Reads at most $2 rows, and no more after $3 bytes. The last column: whether a row is the last of the log. */
  changesFrom: `SELECT first, changes, at_ms, lines, is_last FROM (
      SELECT *, sum(octet_length(lines)) OVER (ORDER BY first) - octet_length(lines) AS before,
        first + changes = (SELECT next FROM changes_end) AS is_last
      FROM (SELECT first, changes, at_ms, lines FROM changes
        WHERE first >= coalesce((SELECT first FROM changes WHERE first <= $1 ORDER BY first DESC LIMIT 1), 1)
        ORDER BY first LIMIT $2) AS rows) AS counted
    WHERE before < $3 ORDER BY first`,
})

/**
 * Numbers all rows that are committed before the call. Waits for standbys as every change does: a number that a reader
 * has seen survives a failover.
 */
export async function numberChanges(connection: Connection): Promise<void> {
  if (connection.pending > pendingMax) throw refusalOf('busy', new Error('numbers of changes wait for a standby'))
  const found = await connection.query(statements.findUnnumbered)
  for (let isDone = found.length === 0; !isDone; ) {
    const [, , [row]] = await connection.sendTogether(() => [
      connection.begin(),
      connection.query(statements.lockEnd),
      connection.query(statements.numberRows, [rowsOfTransaction]),
      connection.commit(),
    ])
    isDone = Number(row?.[0]) < rowsOfTransaction
  }
}

/** Throws AppError `positionGone`. Rows without numbers are not in the page. */
export async function listChanges(reader: Connection, query: ChangeQuery, limits: StoreLimits): Promise<ChangePage> {
  if (query.after === 'now') return emptyPageOf((await reader.query(statements.newestChanges))[0])
  const after = query.after === undefined ? undefined : toPosition(query.after)
  // Each row has at least one change. The first may have none after the position.
  const rowsMax = query.kind === undefined ? query.limit + 1 : rowsOfSearch
  const values = [after?.number ?? null, rowsMax, charactersMaxOf(query, limits)]
  const rows = await reader.query(statements.changesFrom, values)
  const page = changePageOf(rows, after, query, limits)
  return { ...page, isLast: page.isLast && rows.at(-1)?.[4] === true }
}
