// What a plant must be for a change of it to be made (RFC 9110, section 13).

import { type NewPlant, revisionOf } from './plant.ts'

/** Some revisions (`revisionOf`), or any. */
export type Revisions = readonly string[] | '*'

export interface Preconditions {
  /** The plant must have one of these revisions. */
  readonly ifMatch?: Revisions | undefined
  /** The plant must have none of these revisions. */
  readonly ifNoneMatch?: Revisions | undefined
}

/** The first precondition that a plant does not meet, in the order of section 13.2.2; undefined when it meets all. */
export function unmetPrecondition(
  plant: NewPlant,
  { ifMatch, ifNoneMatch }: Preconditions,
): keyof Preconditions | undefined {
  const isAmong = (revisions: Revisions): boolean => revisions === '*' || revisions.includes(revisionOf(plant))
  if (ifMatch !== undefined && !isAmong(ifMatch)) return 'ifMatch'
  return ifNoneMatch !== undefined && isAmong(ifNoneMatch) ? 'ifNoneMatch' : undefined
}
