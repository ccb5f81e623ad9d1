// A row: one rule of the document, and requests that show whether a server keeps it.

import type { Document } from './document.ts'
import type { IdRange } from './ids.ts'
import type { Plants } from './plant.ts'
import type { Level } from './results.ts'
import { type Ask, type Failure, Skipped, Store, WrongAnswer } from './store.ts'

export interface Row {
  /** Unique among all rows. */
  readonly title: string
  readonly level: Level
  /** The document's rule as one sentence, and its place: an operation, a response or a schema. */
  readonly document: string
  /** Ids of the range that the requests contain, in any form. */
  readonly ids: readonly bigint[]
  /** Sends requests, and ends at the first wrong answer. */
  readonly run: (store: Store) => Promise<unknown>
  /** Ids outside the range that a faulty server may derive from the requests. */
  readonly strays?: readonly bigint[]
  /** Why the row cannot run. */
  readonly skipped?: string
  /** Proxies often answer such a request themselves, which proves nothing about the server behind them. */
  readonly isForProxies?: true
  /** Runs before all others, which depend on what it shows, or after them, as it counts what they create. */
  readonly turn?: 'first' | 'last'
}

/** The inputs from which rows are built. */
export interface Circumstances {
  readonly document: Document
  readonly plants: Plants
  readonly ids: IdRange
  /** A text unique to this run, for tags and keys. */
  readonly nonce: string
  /** Names of the available credentials, such as `$TOKEN`. */
  readonly credentials: ReadonlySet<string>
  /** Whether the server appears to allow no other origins. */
  readonly isCorsRestricted: boolean
}

/** A row of what openapi.yaml says. Its ids are the last parameters of `run`. */
export function row(
  title: string,
  document: string,
  ids: readonly bigint[],
  run: (store: Store, ...ids: readonly bigint[]) => Promise<unknown>,
): Row {
  return { title, level: 'complete', document, ids, run: (store) => run(store, ...ids) }
}

/** The row, or why it cannot be run. */
export function unless(why: string | false, row: Row): Row {
  return why === false ? row : { ...row, skipped: why }
}

/** The row, if there is the token that it needs, such as `$SECOND_TOKEN`. */
export function needing(token: string, { credentials }: Circumstances, row: Row): Row {
  const flag = `--${token.slice(1).toLowerCase().replaceAll('_', '-')}`
  return unless(!credentials.has(token) && `it needs ${flag}`, row)
}

/** The row, whose requests proxies often answer themselves. */
export function forProxies(row: Row): Row {
  return { ...row, isForProxies: true }
}

/** Neither if the row passes. */
export interface Outcome {
  readonly failure?: Failure | undefined
  /** Why it says nothing about the server. */
  readonly skipped?: string | undefined
}

/**
 * Runs a row over any transport.
 *
 * @param plants those of the server's document.
 */
export async function runRow(row: Row, ask: Ask, plants: Plants): Promise<Outcome> {
  try {
    await row.run(new Store(ask, plants))
    return {}
  } catch (error) {
    if (error instanceof WrongAnswer) return { failure: error.failure }
    if (error instanceof Skipped) return { skipped: error.message }
    throw error
  }
}
