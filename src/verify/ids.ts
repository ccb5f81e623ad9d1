// The ids that the rows may use. A server that keeps ids as doubles rounds them, and must not meet anybody's plant by
// that: every rounded id is in the range, too.

import { int64Max, int64Min } from '../domain/plant.ts'

/** Ids of a range. */
export const rangeIds = 1_000_000n
/** Far from ids that people choose or count up to, and beyond 2^53. */
export const defaultFirstId = 9_100_000_000_000_000_000n
/** Doubles of int64 are at most so far apart: multiples of it are exact in both. */
const doubleSpacing = 1_024n

export class IdRange {
  readonly first: bigint
  readonly last: bigint
  #next: bigint

  /** Throws RangeError when the range leaves int64. */
  constructor(first: bigint) {
    this.first = first
    this.last = first + rangeIds - 1n
    if (first < int64Min || this.last > int64Max) {
      throw new RangeError(`must be an integer from ${int64Min} to ${int64Max - rangeIds + 1n}`)
    }
    // Between the first and last of these ids and the ends of the range there is room for rounding.
    this.#next = roundUp(first + doubleSpacing)
  }

  /**
   * An id that no other row has and that a double has exactly. The 511 ids after it round to it, or are exact
   * themselves.
   */
  next(): bigint {
    const id = this.#next
    if (id + doubleSpacing > this.last) throw new Error('the rows need more ids than the range has')
    this.#next += doubleSpacing
    return id
  }

  has(id: bigint): boolean {
    return id >= this.first && id <= this.last
  }

  /** Whether all of its ids are such that a double has only some of them. */
  get isBeyondDoubles(): boolean {
    const limit = BigInt(Number.MAX_SAFE_INTEGER)
    return this.first > limit || this.last < -limit
  }
}

/** What a server that keeps ids as doubles makes of an id. */
export function roundedToDouble(id: bigint): bigint {
  return BigInt(Number(id))
}

function roundUp(id: bigint): bigint {
  const rest = ((id % doubleSpacing) + doubleSpacing) % doubleSpacing
  return rest === 0n ? id : id + doubleSpacing - rest
}
