// The log of changes: what happened to plants, in the order of the commits.

import type { Plant } from './plant.ts'

export const changeKinds = ['created', 'replaced', 'deleted'] as const

export type ChangeKind = (typeof changeKinds)[number]

export interface Change {
  readonly kind: ChangeKind
  /** The plant after the change; if it was deleted, the plant before. */
  readonly plant: Plant
  /** The id of the caller's credential; undefined for a command that works on the store itself. */
  readonly callerId?: string | undefined
}

export interface LoggedChange {
  /** Where the change is in the log; see ChangeQuery. */
  readonly position: string
  readonly kind: ChangeKind
  /** When the change was made, in milliseconds since 1970, by the wall clock of its server. */
  readonly atMs: number
  /** The plant as JSON, with the exact digits of its id first. */
  readonly plant: string
  /** The whole change as JSON. */
  readonly json: string
}

/** Serializes a change as JSON. @param plant the plant as JSON. @param time RFC 3339, in UTC. */
export function changeJson(
  position: string,
  time: string,
  kind: ChangeKind,
  plant: string,
  callerId: string | undefined,
): string {
  const begun = `${JSON.stringify({ position, time, kind }).slice(0, -1)},"plant":${plant}`
  return callerId === undefined ? `${begun}}` : `${begun},"callerId":${JSON.stringify(callerId)}}`
}

export interface ChangeQuery {
  /** Only changes after this position. Undefined: from the oldest change. `now`: only the current position. */
  readonly after: string | undefined
  readonly kind: ChangeKind | undefined
  /** Maximum number of changes in a page, at least 1. */
  readonly limit: number
  /** Approximate limit on the characters of changes that a page examines. The store has its own limit, too. */
  readonly charactersMax?: number
}

export interface ChangePage {
  /** In order. A page with fewer than the limit need not be the last. */
  readonly changes: readonly LoggedChange[]
  /** The position after everything that was examined for this page: the value of `after` for the next page. */
  readonly next: string
  /** Whether this page ends where the log ended. */
  readonly isLast: boolean
}
