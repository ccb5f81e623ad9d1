// A row: one rule of the document, and requests that show whether a server keeps it.

import type { IdRange } from './ids.ts'
import type { Credentials } from './message.ts'
import type { Plants } from './plant.ts'
import type { Level, RowName } from './results.ts'
import { type Ask, type Failure, Skipped, Store, WrongAnswer } from './store.ts'

/** Takes the ids of a row from the range of a run. */
export type Ids = (range: IdRange) => readonly bigint[]

/** A rule, and how a row tests it. */
export interface Rule {
  /** The document's rule as one sentence, and its place: an operation, a response or a schema. */
  readonly document: string
  /** By default `complete`. */
  readonly level?: Level
  /** Ids outside the range that a faulty server may derive from the requests. */
  readonly strays?: readonly bigint[]
  /** Why a run cannot test the rule. */
  readonly unless?: (run: Circumstances) => string | false
  /** Proxies often answer such a request themselves, which proves nothing about the server behind them. */
  readonly isForProxies?: boolean
  /**
   * Runs before all others, which depend on what it shows, after them, as it counts what they create, or at the end, to
   * judge their answers.
   */
  readonly turn?: 'first' | 'last' | 'end' | undefined
}

export interface Row extends Rule {
  /** Unique among all rows. */
  readonly title: string
  readonly level: Level
  readonly ids: Ids
  /** Sends requests, and ends at the first wrong answer. */
  readonly run: (store: Store, ...ids: readonly bigint[]) => Promise<unknown>
}

/** A row of a run. */
export interface PlacedRow extends RowName, Omit<Row, 'ids' | 'unless'> {
  /** Ids of the range that the requests contain, in any form. */
  readonly ids: readonly bigint[]
  /** Why the row cannot run. */
  readonly skipped: string | undefined
}

/** What rows know of a run. */
export interface Circumstances {
  /** The plants of the server's document. */
  readonly plants: Plants
  readonly ids: IdRange
  /** A text unique to this run, for tags and keys. */
  readonly nonce: string
  readonly credentials: Credentials
  /** Rows that judge the answers of all others. */
  readonly answers: readonly Row[]
  /** Whether the server appears to allow no other origins. */
  readonly isCorsRestricted: boolean
}

/** @param run takes the row's ids after the store. */
export function row(title: string, rule: string | Rule, ids: Ids, run: Row['run']): Row {
  return { level: 'complete', ...(typeof rule === 'string' ? { document: rule } : rule), title, ids, run }
}

/** No ids: the requests name no plant of the range. */
export const none: Ids = () => []

/** Ids that doubles tell apart. */
export function take(count: number): Ids {
  return (range) => range.take(count)
}

/** Neighbours, which doubles do not tell apart. */
export function near(count: number): Ids {
  return (range) => range.near(count)
}

/** Why a row that sends this token, such as `$SECOND_TOKEN`, cannot run. */
export function needs(token: string): NonNullable<Rule['unless']> {
  const flag = `--${token.slice(1).toLowerCase().replaceAll('_', '-')}`
  return ({ credentials }) => credentials[token] === undefined && `it needs ${flag}`
}

/** Neither if the row passes. */
export interface Outcome {
  readonly failure?: Failure | undefined
  /** Why it says nothing about the server. */
  readonly skipped?: string | undefined
}

/** Runs a row over any transport. */
export async function runRow(row: PlacedRow, ask: Ask, run: Circumstances): Promise<Outcome> {
  try {
    await row.run(new Store(ask, run), ...row.ids)
    return {}
  } catch (error) {
    if (error instanceof WrongAnswer) return { failure: error.failure }
    if (error instanceof Skipped) return { skipped: error.message }
    throw error
  }
}
