// How a batch changes the number of plants, in all and by tag.

import type { PlantNames } from '../domain/plant.ts'

type Tagged = Pick<PlantNames, 'tag'>

export class Tally {
  /** The difference in the number of all plants. */
  plants = 0
  readonly #tags = new Map<string, number>()

  /** Counts a new plant, or the new state of a changed one. */
  add({ tag }: Tagged): void {
    this.#count(tag, 1)
  }

  /** Counts a deleted plant, or the old state of a changed one. */
  remove({ tag }: Tagged): void {
    this.#count(tag, -1)
  }

  /** The nonzero differences by tag. */
  get tags(): readonly (readonly [tag: string, plants: number])[] {
    return [...this.#tags].filter(([, plants]) => plants !== 0)
  }

  #count(tag: string | undefined, by: 1 | -1): void {
    this.plants += by
    if (tag !== undefined) this.#tags.set(tag, (this.#tags.get(tag) ?? 0) + by)
  }
}
