// The ids that the rows may use. A server that keeps ids as doubles rounds them, and must not touch other plants by
// that: every rounded id is in the range, too.

import { int64Max, int64Min } from '../domain/plant.ts'

/** Ids of a range. */
export const rangeIds = 1_000_000n
/**
 * Far from ids that people count up to, and beyond 2^53. The range has 10^18 in its middle: its ids have 18 digits or 19,
 * so that a list in the order of their texts is not in that of their numbers.
 */
export const defaultFirstId = 999_999_999_999_500_000n
/** Doubles of int64 are at most so far apart: multiples of it are exact in both. */
const doubleSpacing = 1_024n

export class IdRange {
  readonly first: bigint
  readonly last: bigint
  #next: bigint
  #nextFromEnd: bigint

  /** Throws RangeError when the range leaves int64. */
  constructor(first: bigint) {
    this.first = first
    this.last = first + rangeIds - 1n
    if (first < int64Min || this.last > int64Max) {
      throw new RangeError(`must be an integer from ${int64Min} to ${int64Max - rangeIds + 1n}`)
    }
    // Between the first and last of these ids and the ends of the range there is room for rounding.
    this.#next = roundUp(first + doubleSpacing)
    this.#nextFromEnd = roundUp(this.last - 2n * doubleSpacing + 1n)
  }

  /**
   * An id that no other row has and that a double has exactly. The 511 ids after it round to it, or are exact
   * themselves.
   */
  next(): bigint {
    const id = this.#next
    this.#next += doubleSpacing
    return this.#checked(id)
  }

  /** The same from the other half of the range. Every call gives one that is less than the one before. */
  nextFromEnd(): bigint {
    const id = this.#nextFromEnd
    this.#nextFromEnd -= doubleSpacing
    return this.#checked(id)
  }

  has(id: bigint): boolean {
    return id >= this.first && id <= this.last
  }

  #checked(id: bigint): bigint {
    if (this.#next > this.#nextFromEnd + doubleSpacing) throw new Error('the rows need more ids than the range has')
    return id
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
