// Which plants were changed lately, by any process, from the log of changes.

import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** So few that reading the longest of them does not delay other requests. */
const changesMax = 1_024
/** A line of the log begins with the kind of the change and the JSON of the plant, whose id comes first. */
const idsOfLines = /^.\{"id":(-?\d+)/gm

/** Prepares a query for the number of the newest change. */
export function prepareNewestChange(reader: DatabaseSync): () => number {
  const statement = reader.prepare('SELECT first + changes - 1 FROM changes ORDER BY first DESC LIMIT 1')
  statement.setReturnArrays(true)
  return () => (statement.get() as unknown as [number])[0]
}

export class RecentChanges {
  readonly #newest: () => number
  readonly #rowsAfter: StatementSync
  /** The ids of the plants that the newest changes changed: that of change n at n % changesMax. */
  readonly #ids = new BigInt64Array(changesMax)
  /** The ids of the changes after the first number, up to the second, are known. */
  #from = 0
  #to = 0

  /** @param reader a connection that sees every committed change. */
  constructor(reader: DatabaseSync) {
    this.#newest = prepareNewestChange(reader)
    this.#rowsAfter = reader.prepare('SELECT first, lines FROM changes WHERE first > ? ORDER BY first')
    this.#rowsAfter.setReturnArrays(true)
  }

  /** Reads up to the end of the log, and returns the number of the newest change. */
  read(): number {
    const end = this.#newest()
    if (end !== this.#to) this.#readUntil(end)
    return end
  }

  /** Whether a plant with an id in a range may have been changed after a change, up to the last `read`. */
  mayHaveChanged(fromId: bigint, untilId: bigint, afterChange: number): boolean {
    if (afterChange < this.#from) return true
    for (let change = afterChange + 1; change <= this.#to; change += 1) {
      const id = this.#ids[change % changesMax] as bigint
      if (id >= fromId && id <= untilId) return true
    }
    return false
  }

  /** Forgets everything before `end` if there is too much to read, or if the sweep has deleted a part of it. */
  #readUntil(end: number): void {
    const known = this.#to
    this.#to = end
    if (end - known > changesMax) {
      this.#from = end
      return
    }
    let next = known + 1
    for (const [first, lines] of this.#rowsAfter.iterate(known) as unknown as Iterable<[number, string]>) {
      if (first !== next) break
      for (const [, id = ''] of lines.matchAll(idsOfLines)) {
        this.#ids[next % changesMax] = BigInt(id)
        next += 1
      }
    }
    this.#from = next === end + 1 ? Math.max(this.#from, end - changesMax) : end
  }
}
