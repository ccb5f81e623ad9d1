// The log of changes, for every engine: the format of its rows, and how pages are made from them.
//
// A row has the changes of one transaction, or a part of them: a line for each. The number of its first change
// and its time identify the row. Positions contain both, so that a position of another history of the store, such as
// that from before a backup was restored, is recognized.

import {
  type Change,
  type ChangeKind,
  type ChangePage,
  type ChangeQuery,
  changeJson,
  changeKinds,
  type LoggedChange,
} from '../domain/change.ts'
import { AppError } from '../domain/errors.ts'
import type { Limits } from '../limits.ts'

interface ChangeRow {
  /** The number of the first change of the row; the others follow. */
  readonly first: bigint
  /** Number of changes in the row. The first row of a log has none: it counts 1 for the beginning of the log. */
  readonly changes: bigint
  /** Time of the transaction, by the wall clock. */
  readonly atMs: bigint
  readonly lines: string
}

/** The mark of each kind in the log: a character of its own. */
const marks: Readonly<Record<ChangeKind, string>> = { created: 'c', replaced: 'r', deleted: 'd' }

/** A line: the mark of the kind, the plant as JSON and, after a tab, the caller. None has a tab or a line break. */
export function lineOf({ kind, plant, callerId }: Change): string {
  const line = marks[kind] + plant.json
  return callerId === undefined ? line : `${line}\t${callerId}`
}

/** Distributes lines over new rows of a bounded size. The engine numbers them. */
export function rowsOf(
  lines: readonly string[],
  charactersMax: number,
): readonly { readonly changes: number; readonly lines: string }[] {
  const rows = []
  for (let from = 0, to = 0; from < lines.length; from = to) {
    let characters = 0
    for (; to < lines.length && characters < charactersMax; to += 1) characters += lines[to]?.length ?? 0
    rows.push({ changes: to - from, lines: lines.slice(from, to).join('\n') })
  }
  return rows
}

/** The position of a change, or of the beginning of the log. */
export interface Position {
  readonly number: bigint
  readonly atMs: bigint
}

function positionText({ number, atMs }: Position): string {
  return `${number}-${atMs.toString(36)}`
}

/** Throws AppError `positionGone`: another store may write its positions in another way. */
export function toPosition(text: string): Position {
  const [, number, atMs] = /^([1-9]\d{0,17})-([0-9a-z]{1,10})$/.exec(text) ?? []
  if (number !== undefined && atMs !== undefined) return { number: BigInt(number), atMs: BigInt(parseInt(atMs, 36)) }
  throw positionGone()
}

/** The position of the last change of a row. */
function endOf({ first, changes, atMs }: ChangeRow): Position {
  return { number: first + changes - 1n, atMs }
}

/** The page of a reader that starts now. `newest` is the last row of the log, as columns. */
export function emptyPageOf(newest: unknown): ChangePage {
  if (newest === undefined) throw new TypeError('the log of changes has no beginning')
  return { changes: [], next: positionText(endOf(toRow(newest))), isLast: true }
}

/** @param row first, changes, at_ms, lines. */
function toRow(row: unknown): ChangeRow {
  const [first, changes, atMs, lines] = row as [bigint, bigint, bigint, string]
  return { first, changes, atMs, lines }
}

export function charactersMaxOf(query: Pick<ChangeQuery, 'charactersMax'>, limits: Limits): number {
  return Math.min(query.charactersMax ?? Number.POSITIVE_INFINITY, limits.changePageCharactersMax)
}

/**
 * Makes a page.
 *
 * @param rows the log in order, as columns, from the last row that begins at or before `after`; all rows if there is none.
 * @param after undefined: before the first row.
 * @throws AppError `positionGone`, also at a row that somebody has damaged.
 */
export function changePageOf(
  rows: Iterable<unknown>,
  after: Position | undefined,
  query: Omit<ChangeQuery, 'after'>,
  limits: Limits,
): ChangePage {
  const { kind, limit } = query
  const charactersMax = charactersMaxOf(query, limits)
  const changes: LoggedChange[] = []
  let [end, characters] = [after, 0]
  const page = (isLast: boolean): ChangePage => {
    if (end === undefined) throw new TypeError('the log of changes has no beginning')
    return { changes, next: positionText(end), isLast }
  }
  let nextFirst: bigint | undefined
  for (const columns of rows) {
    const row = toRow(columns)
    if (nextFirst === undefined) {
      if (after !== undefined) assertLogged(after, row)
    } else if (row.first !== nextFirst) throw positionGone()
    nextFirst = row.first + row.changes
    if (characters >= charactersMax) return page(false)
    const { first, atMs, lines } = row
    const date = new Date(Number(atMs))
    if (Number.isNaN(date.getTime())) throw positionGone()
    const time = date.toISOString()
    let number = first
    for (const line of lines.split('\n')) {
      if (end === undefined || number > end.number) {
        if (changes.length === limit) return page(false)
        end = { number, atMs }
        characters += line.length
        // The line of the beginning is empty.
        const itsKind = line === '' ? undefined : kindOf(line)
        if (itsKind !== undefined && (kind === undefined || kind === itsKind)) {
          const position = positionText(end)
          const [plant = '', callerId] = line.slice(1).split('\t')
          const json = changeJson(position, time, itsKind, plant, callerId)
          changes.push({ position, kind: itsKind, atMs: Number(atMs), plant, json })
        }
      }
      number += 1n
    }
  }
  if (nextFirst === undefined && after !== undefined) assertLogged(after, undefined)
  return page(true)
}

function assertLogged({ number, atMs }: Position, row: ChangeRow | undefined): void {
  if (row !== undefined && row.atMs === atMs && number >= row.first && number < row.first + row.changes) return
  throw positionGone()
}

function positionGone(): AppError {
  return new AppError(
    'positionGone',
    'the log does not have this position; request after=now, list the plants, then follow the Link of the first response',
  )
}

function kindOf(line: string): ChangeKind {
  const kind = changeKinds.find((each) => marks[each] === line.charAt(0))
  if (kind === undefined) throw positionGone()
  return kind
}
