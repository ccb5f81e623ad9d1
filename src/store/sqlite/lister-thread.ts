// A lister thread: makes one page or summary after the other, over a connection of its own that only reads.

import { getPriority, platform, setPriority } from 'node:os'
import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { isPassing, openReadable } from './file/database.ts'
import { Pages } from './pages.ts'
import type { FromLister, ListerOptions, ToLister } from './writer-messages.ts'

if (isMainThread || parentPort === null) throw new TypeError('lister.ts runs in a worker thread')

/** From 0, as everybody else, to 19: of a core that others want, too, the thread gets a tenth. */
const niceness = 10
const options: ListerOptions = workerData
const port = parentPort
let pages: Pages | undefined

// Where cores are short, pages give way to changes.
if (platform() === 'linux') giveWay()

port.on('message', (request: ToLister) => {
  const answer = answerTo(request)
  // Handed over, not copied.
  port.postMessage(answer, answer.kind === 'page' ? [answer.page.json.buffer] : [])
})

/** Lowers the priority of this thread, unless it is lower already. Elsewhere it would be that of the process. */
function giveWay(): void {
  try {
    setPriority(0, Math.max(niceness, getPriority(0)))
  } catch {
    // A sandbox may forbid it; pages are made all the same.
  }
}

/** Opened by the first page: what keeps it from being opened is that page's own, and may be gone by the next. */
function answerTo(request: ToLister): FromLister {
  try {
    pages ??= new Pages(openReadable(options.path, options.storeBusyMsMax, options.cacheBytes), options)
    if (request.kind === 'list') return { kind: 'page', page: pages.list(request.query) }
    return { kind: 'summary', summary: pages.summary(options.summaryTagsCounted) }
  } catch (error) {
    return { kind: 'failed', isPassing: isPassing(error), error }
  }
}
