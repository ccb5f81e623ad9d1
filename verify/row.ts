// A row: one rule of the document, and requests that show whether a server keeps it.

import type { IdRange } from './ids.ts'
import type { Credentials } from './message.ts'
import type { Plants } from './plant.ts'
import type { Level, RowName } from './results.ts'
import type { Store } from './store.ts'

/** A rule, and how a row tests it. */
export interface Rule {
  /** Where the document has it, as `quote` takes it. */
  readonly place?: string
  /** What a document says that is not the bundled one. */
  readonly document?: string
  /** By default `complete`. */
  readonly level?: Level
  /** The ids of the range that the row takes; by default those that its procedure names, which doubles tell apart. */
  readonly ids?: (range: IdRange) => readonly bigint[]
  /** Ids outside the range that a faulty server may derive from the requests. */
  readonly strays?: readonly bigint[]
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
  /** Sends requests, and ends at the first wrong answer. */
  readonly run: (store: Store, ...ids: readonly bigint[]) => Promise<unknown>
}

/** A row of a run. */
export interface PlacedRow extends RowName, Omit<Row, 'ids'> {
  readonly document: string
  readonly level: Level
  /** Ids of the range that the requests contain, in any form. */
  readonly ids: readonly bigint[]
}

/** What rows know of a run. */
export interface Circumstances {
  /** The plants of the server's document. */
  readonly plants: Plants
  readonly ids: IdRange
  /** A text unique to this run, for tags and keys. */
  readonly nonce: string
  readonly credentials: Credentials
  /** Whether the server appears to allow no other origins. */
  readonly isCorsRestricted: boolean
}

/** @param rule or its place. */
export function row(title: string, rule: string | Rule, run: Row['run']): Row {
  return { ...(typeof rule === 'string' ? { place: rule } : rule), title, run }
}

/** Ids that doubles tell apart. */
export function take(count: number): NonNullable<Rule['ids']> {
  return (range) => range.take(count)
}

/** Neighbours, which doubles do not tell apart. */
export function near(count: number): NonNullable<Rule['ids']> {
  return (range) => range.near(count)
}
