// Keeps pages that are requested again and again. The log of changes tells which of them have changed, whichever process
// made the change; docs/decisions/0026-reads.md has the reasons.

import type { PlantPage, PlantQuery } from '../../domain/store.ts'
import type { RecentChanges } from './recent-changes.ts'

/** A page, and the ids of the plants on which it depends: its own, and the first one behind it. */
export interface RangePage {
  readonly page: PlantPage
  readonly fromId: bigint
  readonly untilId: bigint
}

export interface KeptPagesLimits {
  readonly keptPagesBytesMax: number
  readonly keptPageBytesMax: number
  readonly keptPageQueriesMax: number
}

interface KeptPage extends RangePage {
  /** The page is as it was after this change. */
  atChange: number
}

export class KeptPages {
  readonly #changes: RecentChanges
  readonly #limits: KeptPagesLimits
  /** Least recently used first. */
  readonly #pages = new Map<string, KeptPage>()
  /** Queries that were made once, oldest first. To keep a page that is read once costs more than it saves. */
  readonly #seen = new Set<string>()
  #bytes = 0

  constructor(changes: RecentChanges, limits: KeptPagesLimits) {
    this.#changes = changes
    this.#limits = limits
  }

  /** The number of the newest change: call it before reading a page. */
  newestChange(): number {
    return this.#changes.read()
  }

  /** The page of a query, if it is kept and no plant on which it depends has changed. */
  find(query: PlantQuery): PlantPage | undefined {
    const key = keyOf(query)
    const kept = this.#pages.get(key)
    if (kept === undefined) return undefined
    this.#pages.delete(key)
    const newest = this.#changes.read()
    if (this.#changes.mayHaveChanged(kept.fromId, kept.untilId, kept.atChange)) {
      this.#bytes -= kept.page.json.length
      this.#see(key)
      return undefined
    }
    // The page may be newer: a thread reads the file at its own time.
    kept.atChange = Math.max(kept.atChange, newest)
    this.#pages.set(key, kept)
    return kept.page
  }

  /**
   * Keeps a page if it was wanted before.
   *
   * @param atChange a change before the page was read; the later ones are checked.
   */
  keep(query: PlantQuery, found: RangePage, atChange: number): void {
    const { keptPageBytesMax, keptPagesBytesMax } = this.#limits
    const key = keyOf(query)
    const bytes = found.page.json.length
    if (bytes > keptPageBytesMax || this.#pages.has(key)) return
    if (!this.#seen.delete(key)) {
      this.#see(key)
      return
    }
    this.#pages.set(key, { ...found, atChange })
    this.#bytes += bytes
    for (const [oldest, { page }] of this.#pages) {
      if (this.#bytes <= keptPagesBytesMax) return
      this.#pages.delete(oldest)
      this.#bytes -= page.json.length
    }
  }

  #see(key: string): void {
    this.#seen.add(key)
    const [oldest] = this.#seen
    if (oldest !== undefined && this.#seen.size > this.#limits.keptPageQueriesMax) this.#seen.delete(oldest)
  }
}

function keyOf({ after, tag, limit }: PlantQuery): string {
  return `${limit} ${after ?? ''} ${tag === undefined ? '' : `#${tag}`}`
}
