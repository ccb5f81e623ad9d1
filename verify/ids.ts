// Allocates the ids for the rows. A server that stores ids as doubles rounds them and must not touch other plants:
// every rounded id stays in the range.

export const int64Min = -(2n ** 63n)
export const int64Max = 2n ** 63n - 1n

/** Number of ids in a range. */
export const rangeIds = 1_000_000n
/**
 * Unlikely to be in use, and beyond 2^53. The range spans 10^18, so that ids have 18 or 19 digits and text order
 * differs from numeric order.
 */
export const defaultFirstId = 999_999_999_999_500_000n
/** The maximum distance between doubles within int64: its multiples are exact as doubles. */
const doubleSpacing = 1_024n

export class IdRange {
  readonly first: bigint
  readonly last: bigint
  #next: bigint
  #nextFromEnd: bigint

  /** Throws RangeError if the range exceeds int64. */
  constructor(first: bigint) {
    this.first = first
    this.last = first + rangeIds - 1n
    if (first < int64Min || this.last > int64Max) {
      throw new RangeError(`must be an integer from ${int64Min} to ${int64Max - rangeIds + 1n}`)
    }
    // Leaves room for rounding at both ends of the range.
    this.#next = roundUp(first + doubleSpacing)
    this.#nextFromEnd = roundUp(this.last - 2n * doubleSpacing + 1n)
  }

  /** Unused ids, each exact as a double. The next 511 ids round to it or are exact themselves. */
  take(count: number): readonly bigint[] {
    const first = this.#next
    this.#next += BigInt(count) * doubleSpacing
    return this.#checked(spaced(first, count, doubleSpacing))
  }

  /** Like `take`, from the other half of the range, each smaller than the one before. */
  takeEnd(count: number): readonly bigint[] {
    const first = this.#nextFromEnd
    this.#nextFromEnd -= BigInt(count) * doubleSpacing
    return this.#checked(spaced(first, count, -doubleSpacing))
  }

  /** Unused neighbours, which doubles cannot distinguish; of one of the ids that `take` or `takeEnd` gives. */
  near(count: number, [id = 0n] = this.take(1)): readonly bigint[] {
    return spaced(id + 1n, count, 1n)
  }

  #checked(ids: readonly bigint[]): readonly bigint[] {
    if (this.#next > this.#nextFromEnd + doubleSpacing) throw new Error('the rows need more ids than the range has')
    return ids
  }
}

/** Why the digits of ids cannot be tested; false if every id is beyond the integers that doubles hold exactly. */
export function whyExactAnyway(ids: readonly bigint[]): string | false {
  const isExact = ids.some((id) => Number.isSafeInteger(Number(id)))
  return isExact && 'the given range has ids that JavaScript numbers hold exactly'
}

function spaced(first: bigint, count: number, spacing: bigint): readonly bigint[] {
  return Array.from({ length: count }, (_, at) => first + BigInt(at) * spacing)
}

/** Rounds an id as a server that stores doubles would. */
export function roundedToDouble(id: bigint): bigint {
  return BigInt(Number(id))
}

function roundUp(id: bigint): bigint {
  const rest = ((id % doubleSpacing) + doubleSpacing) % doubleSpacing
  return rest === 0n ? id : id + doubleSpacing - rest
}
