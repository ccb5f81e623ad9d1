// The lister threads: one for lists, and one for searches by name and summaries, which may take longer.

import type { PlantPage, PlantQuery, Summary } from '../../domain/store.ts'
import { ListerThread } from './lister.ts'
import type { SearchQuery } from './pages.ts'
import type { ListerOptions } from './writer-messages.ts'

export class Listers {
  readonly #lists: ListerThread
  readonly #searches: ListerThread

  /** The first page of each kind starts its thread. */
  constructor(options: ListerOptions) {
    this.#lists = new ListerThread(options, 'lists', options.limits.listsMax)
    this.#searches = new ListerThread(options, 'searches', options.limits.searchesMax)
  }

  /** Like `ListerThread.list`. */
  list(query: PlantQuery, assertWanted: () => void): Promise<PlantPage> {
    return this.#lists.list(query, assertWanted)
  }

  /** Like `ListerThread.search`. */
  search(query: SearchQuery, assertWanted: () => void): Promise<PlantPage> {
    return this.#searches.search(query, assertWanted)
  }

  summarize(): Promise<Summary> {
    return this.#searches.summarize()
  }

  async close(): Promise<void> {
    await Promise.all([this.#lists.close(), this.#searches.close()])
  }
}
