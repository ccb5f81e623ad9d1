// What a row is: a few requests, what must come, and what the document says of it.

import type { NewPlant } from '../domain/plant.ts'
import type { IdRange } from './ids.ts'
import type { Answer, RowRequest } from './message.ts'

/** `specified`: what the Plant Store document itself says. `complete`: what openapi.yaml says besides. */
export const levels = ['specified', 'complete'] as const
export type Level = (typeof levels)[number]

export interface Row {
  /** Names the row, among all rows. */
  readonly title: string
  readonly level: Level
  /** Requests in order; after one whose answer is wrong no further one is sent. */
  readonly steps: readonly Step[]
  /** What the document says, as one sentence. */
  readonly document: string
  /** Where it says so: an operation, a response or a schema. */
  readonly where: string
  /** Ids of the range that the requests name, in any form. */
  readonly ids: readonly bigint[]
  /** The plant that the store has afterwards. */
  readonly kept?: NewPlant
  /** Ids outside of the range that a wrong server may take those of the requests for. */
  readonly strays?: readonly bigint[]
  /** Why the row cannot be run. */
  readonly skipped?: string
}

export interface Step {
  /** @param before the answers to the steps before. */
  readonly request: RowRequest | ((before: readonly Answer[]) => RowRequest)
  readonly checks: readonly Check[]
  /** For a list: what follows the answer, and what all of it must be. */
  readonly pages?: Pages
}

export interface Pages {
  /** The request for the page after this one; nothing when it is the last. */
  readonly next: (page: Answer) => RowRequest | undefined
  /** Source what is wrong with the pages together. The checks of the step are for each of them. */
  readonly check: (pages: readonly Answer[]) => string | undefined
}

/** Source what is wrong with an answer, or nothing when it is right. */
export type Check = (answer: Answer, before: readonly Answer[]) => string | undefined

/** What the rows of a subject are made of. */
export interface Circumstances {
  readonly ids: IdRange
  /** A text that no other run has, for tags and keys. */
  readonly nonce: string
  /** Names of the credentials that were given, as `$TOKEN`. */
  readonly credentials: ReadonlySet<string>
  /** Whether the server was seen to let no page of another origin call. */
  readonly isCorsRestricted: boolean
}

export interface Subject {
  readonly name: string
  readonly rows: readonly Row[]
}
