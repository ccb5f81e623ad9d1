// The requests and acknowledgements of clients, and the states that a store may be in after any moment: each plant as
// its last acknowledged change left it, or as the pending change would.

export interface KeptPlant {
  readonly name: string
  readonly tag?: string
}

/** A change that a client asked for: of a plant of its own, one after the other. */
export interface Change {
  readonly id: bigint
  /** Undefined for a plant that is deleted. */
  readonly after: KeptPlant | undefined
  /** Of the answer that acknowledged it; undefined when none came. */
  readonly requestId?: string
}

export interface Difference {
  /** Plants that are not as they were acknowledged. */
  readonly lost: readonly bigint[]
  /** Plants that nobody asked for. */
  readonly invented: readonly bigint[]
}

export class Ledger {
  readonly #clients: readonly { readonly changes: readonly Change[]; done: number }[]
  readonly #answeredAt: ReadonlyMap<string, number>
  readonly #settled = new Map<bigint, KeptPlant | undefined>()

  /** @param answeredAt the position of the answer to each request. */
  constructor(clients: readonly (readonly Change[])[], answeredAt: ReadonlyMap<string, number>) {
    this.#clients = clients.map((changes) => ({ changes, done: 0 }))
    this.#answeredAt = answeredAt
  }

  /** Takes as acknowledged what was answered before a position. Positions must not go back. */
  advance(position: number): void {
    for (const client of this.#clients) {
      for (let change = client.changes[client.done]; change !== undefined; change = client.changes[client.done]) {
        const answeredAt = this.#answeredAt.get(change.requestId ?? '')
        if (answeredAt === undefined || answeredAt >= position) break
        this.#settled.set(change.id, change.after)
        client.done += 1
      }
    }
  }

  /** Gives what holds the content of a store against what may be in it now. */
  expectation(): (found: ReadonlyMap<bigint, KeptPlant>) => Difference {
    const settled = new Map(this.#settled)
    const waiting = new Map<bigint, Change>()
    for (const { changes, done } of this.#clients) {
      const change = changes[done]
      if (change !== undefined) waiting.set(change.id, change)
    }
    return (found) => {
      const mayBe = (id: bigint): boolean => {
        const plant = found.get(id)
        return isSame(plant, settled.get(id)) || (waiting.has(id) && isSame(plant, waiting.get(id)?.after))
      }
      return {
        lost: [...settled.keys()].filter((id) => !mayBe(id)),
        invented: [...found.keys()].filter((id) => !settled.has(id) && !mayBe(id)),
      }
    }
  }
}

function isSame(one: KeptPlant | undefined, other: KeptPlant | undefined): boolean {
  return one?.name === other?.name && one?.tag === other?.tag
}
