// The search thread: answers one search by name after the other, over a connection of its own that only reads.

import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { isPassing, openReadable } from './database.ts'
import type { FromSearch, SearchOptions, ToSearch } from './messages.ts'
import { Pages } from './pages.ts'

if (isMainThread || parentPort === null) throw new TypeError('search.ts runs in a worker thread')

const options: SearchOptions = workerData
const port = parentPort
let pages: Pages | undefined

port.on('message', (query: ToSearch) => port.postMessage(search(query)))

/** Opened by the first search: what keeps it from being opened is that search's own, and may be gone by the next. */
function search(query: ToSearch): FromSearch {
  try {
    pages ??= new Pages(openReadable(options.path, options.storeBusyMsMax), options)
    return { kind: 'page', page: pages.list(query) }
  } catch (error) {
    return { kind: 'failed', isPassing: isPassing(error), error }
  }
}
