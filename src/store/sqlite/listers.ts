// The threads of pages: one for lists, and one for what may take longer, so that no list waits for it: searches by name
// and summaries.

import type { PlantPage, PlantQuery, Summary } from '../../domain/store.ts'
import { ListerThread } from './lister.ts'
import { isSearch } from './pages.ts'
import type { ListerOptions } from './writer-messages.ts'

export interface ListersOptions extends ListerOptions {
  /** Pages of each kind that may wait for each other. */
  readonly listsMax: number
  readonly searchesMax: number
}

export class Listers {
  readonly #lists: ListerThread
  readonly #searches: ListerThread

  /** Each thread is started by its first page. */
  constructor(options: ListersOptions) {
    this.#lists = new ListerThread(options, 'lists', options.listsMax)
    this.#searches = new ListerThread(options, 'searches', options.searchesMax)
  }

  /** The page of a query; throws as ListerThread does. */
  list(query: PlantQuery, assertWanted: () => void): Promise<PlantPage> {
    return (isSearch(query) ? this.#searches : this.#lists).list(query, assertWanted)
  }

  summarize(): Promise<Summary> {
    return this.#searches.summarize()
  }

  async close(): Promise<void> {
    await Promise.all([this.#lists.close(), this.#searches.close()])
  }
}
