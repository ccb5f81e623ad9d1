// A lister thread: makes one page or summary at a time, with its own read-only connection.

import { getPriority, platform, setPriority } from 'node:os'
import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { isPassing, openReadable } from './file/database.ts'
import { Pages } from './pages.ts'
import type { FromLister, ListerOptions, ToLister } from './writer-messages.ts'

if (isMainThread || parentPort === null) throw new TypeError('lister-thread.ts runs in a worker thread')

/** On a scale from 0, the default, to 19. At 10, the thread gets a tenth of a contended core. */
const niceness = 10
const { path, limits }: ListerOptions = workerData
const port = parentPort
let opened: Pages | undefined

// If cores are scarce, changes take precedence over pages.
if (platform() === 'linux') giveWay()

port.on('message', (request: ToLister) => {
  const answer = answerTo(request)
  // Transfer the buffer instead of copying it.
  port.postMessage(answer, buffersOf(answer))
})

/** Lowers the priority of this thread. On systems other than Linux, this would affect the whole process. */
function giveWay(): void {
  try {
    setPriority(0, Math.max(niceness, getPriority(0)))
  } catch {
    // A sandbox may forbid this; the thread works anyway.
  }
}

/** Opens the connection for the first page. A failure to open affects only that page; the next one tries again. */
function answerTo(request: ToLister): FromLister {
  try {
    opened ??= new Pages(openReadable(path, limits.storeBusyMsMax), limits)
    switch (request.kind) {
      case 'list':
        return {
          kind: 'page',
          page: opened.list(request.query),
        }
      case 'summarize':
        return { kind: 'summary', summary: opened.summary(limits.summaryTagsCounted) }
    }
  } catch (error) {
    return { kind: 'failed', isPassing: isPassing(error), error }
  }
}

function buffersOf(answer: FromLister): ArrayBuffer[] {
  return answer.kind === 'page' ? [answer.page.json.buffer] : []
}
