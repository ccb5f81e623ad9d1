// A row: a few requests, the expected answers, and the document's rule.

import type { Contract } from '../src/contract/contract.ts'
import type { IdRange } from './ids.ts'
import type { Answer, RowRequest } from './message.ts'
import type { NewPlant, Plants } from './plant.ts'
import type { Level } from './results.ts'

export interface Row {
  /** Unique among all rows. */
  readonly title: string
  readonly level: Level
  /** Requests in order; a wrong answer ends the row. */
  readonly steps: readonly Step[]
  /** The document's rule, as one sentence. */
  readonly document: string
  /** The place of the rule: an operation, a response or a schema. */
  readonly where: string
  /** Ids of the range that the requests contain, in any form. */
  readonly ids: readonly bigint[]
  /** The plant that the store holds afterwards. */
  readonly kept?: NewPlant
  /** Ids outside the range that a faulty server may derive from the requests. */
  readonly strays?: readonly bigint[]
  /** Why the row cannot run. */
  readonly skipped?: string
  /** Proxies often answer such a request themselves, which says nothing about the server behind them. */
  readonly isForProxies?: true
}

export type Step = OneStep | ManyStep

export interface OneStep {
  /** @param before the answers to the previous steps. */
  readonly request: RowRequest | ((before: readonly Answer[]) => RowRequest)
  readonly checks: readonly Check[]
  /** For a list: how to follow its pages, and what to check of them all. */
  readonly pages?: Pages
}

/** Several clients at once. For later steps, the answer is the first that succeeded. */
export interface ManyStep {
  readonly atOnce: (before: readonly Answer[]) => readonly RowRequest[]
  /** Returns what is wrong with the answers, which are in the order of the requests. */
  readonly together: (answers: readonly Answer[], plants: Plants) => string | undefined
}

export interface Pages {
  /** The request for the next page; undefined on the last page. */
  readonly next: (page: Answer, request: RowRequest) => RowRequest | undefined
  /** Returns what is wrong with the pages together. The step's checks apply to each page. */
  readonly check: (pages: readonly Answer[], plants: Plants) => string | undefined
}

/** Returns what is wrong with an answer, or undefined. */
export type Check = (answer: Answer, before: readonly Answer[], plants: Plants) => string | undefined
/** A check that needs nothing but the answer. */
export type AnswerCheck = (answer: Answer) => string | undefined

/** The inputs from which rows are built. */
export interface Circumstances {
  readonly contract: Contract
  readonly plants: Plants
  readonly ids: IdRange
  /** A text unique to this run, for tags and keys. */
  readonly nonce: string
  /** Names of the available credentials, such as `$TOKEN`. */
  readonly credentials: ReadonlySet<string>
  /** Whether the server appears to allow no other origins. */
  readonly isCorsRestricted: boolean
}

export interface Subject {
  readonly name: string
  readonly rows: readonly Row[]
}
