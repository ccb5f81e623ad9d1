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
  #bytes = 0
  /**
   * Queries that were made once, oldest first, and the bytes of their pages: as many as could be kept. To keep the pages
   * of a client that reads a large store again and again would only cost.
   */
  readonly #seen = new Map<string, number>()
  #seenBytes = 0

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
    const newest = this.#changes.read()
    this.#pages.delete(key)
    if (this.#changes.mayHaveChanged(kept.fromId, kept.untilId, kept.atChange)) {
      this.#bytes -= kept.page.json.length
      this.#see(key, kept.page.json.length)
      return undefined
    }
    // The page may be newer: a thread reads the file at its own time.
    kept.atChange = Math.max(kept.atChange, newest)
    this.#pages.set(key, kept)
    return kept.page
  }

  /**
   * Keeps a page if it was wanted before. Returns whether it is kept now.
   *
   * @param atChange a change before the page was read; the later ones are checked.
   */
  keep(query: PlantQuery, found: RangePage, atChange: number): boolean {
    const { keptPageBytesMax, keptPagesBytesMax } = this.#limits
    const key = keyOf(query)
    const bytes = found.page.json.length
    if (bytes > keptPageBytesMax || this.#pages.has(key)) return false
    if (!this.#forget(key)) {
      this.#see(key, bytes)
      return false
    }
    this.#pages.set(key, { ...found, atChange })
    this.#bytes += bytes
    for (const [oldest, { page }] of this.#pages) {
      if (this.#bytes <= keptPagesBytesMax) break
      this.#pages.delete(oldest)
      this.#bytes -= page.json.length
    }
    return true
  }

  #see(key: string, bytes: number): void {
    const { keptPageQueriesMax, keptPagesBytesMax } = this.#limits
    this.#seen.set(key, bytes)
    this.#seenBytes += bytes
    for (const oldest of this.#seen.keys()) {
      if (this.#seen.size <= keptPageQueriesMax && this.#seenBytes <= keptPagesBytesMax) return
      this.#forget(oldest)
    }
  }

  /** Returns whether the query was seen. */
  #forget(key: string): boolean {
    this.#seenBytes -= this.#seen.get(key) ?? 0
    return this.#seen.delete(key)
  }
}

function keyOf({ after, tag, limit }: PlantQuery): string {
  return `${limit} ${after ?? ''} ${tag === undefined ? '' : `#${tag}`}`
}
