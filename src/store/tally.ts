// By how much a batch of changes changes the numbers of plants: of all of them, and of each tag.

interface Tagged {
  readonly tag?: string | undefined
}

export class Tally {
  /** The difference in all plants. */
  plants = 0
  readonly #tags = new Map<string, number>()

  /** Counts a plant that comes, or what one is after a change. */
  add({ tag }: Tagged): void {
    this.#count(tag, 1)
  }

  /** Counts a plant that goes, or what one was before a change. */
  remove({ tag }: Tagged): void {
    this.#count(tag, -1)
  }

  /** The differences of tags, but for those that have none. */
  get tags(): readonly (readonly [tag: string, plants: number])[] {
    return [...this.#tags].filter(([, plants]) => plants !== 0)
  }

  #count(tag: string | undefined, by: 1 | -1): void {
    this.plants += by
    if (tag !== undefined) this.#tags.set(tag, (this.#tags.get(tag) ?? 0) + by)
  }
}
