// Random numbers from a seed, so that a failed run can be repeated.

export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A number from 0 up to 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** An integer from 0 up to a bound that is left out. */
  below(bound: number): number {
    return Math.floor(this.next() * bound)
  }

  /** An integer from one to another, both of them included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  /** The seed of another one. */
  seed(): number {
    return this.below(2 ** 31)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.below(choices.length)]
    if (choice === undefined) throw new TypeError('there is nothing to pick from')
    return choice
  }
}
