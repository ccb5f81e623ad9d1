// A lister thread: makes one page or summary at a time, with its own read-only connection.

import { getPriority, platform, setPriority } from 'node:os'
import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import type { PlantPage, PlantQuery, Summary } from '../../domain/store.ts'
import type { Limits } from '../../limits.ts'
import { isPassing, openReadable, passingMessage } from './file/database.ts'
import { Pages } from './pages.ts'
import { send } from './thread.ts'

export interface ListerOptions {
  readonly path: string
  readonly limits: Limits
}

export type ToLister = { readonly kind: 'list'; readonly query: PlantQuery } | { readonly kind: 'summarize' }

if (isMainThread || parentPort === null) throw new TypeError('lister-thread.ts runs in a worker thread')

/** On a scale from 0, the default, to 19. At 10, the thread gets a tenth of a contended core. */
const niceness = 10
const { path, limits }: ListerOptions = workerData
let opened: Pages | undefined

try {
  // If cores are scarce, changes take precedence over pages. On other systems, this would affect the whole process.
  if (platform() === 'linux') setPriority(0, Math.max(niceness, getPriority(0)))
} catch {
  // A sandbox may forbid this; the thread works anyway.
}

parentPort.on('message', (request: ToLister) => {
  try {
    const made = make(request)
    // Transfer the buffer instead of copying it.
    send({ answer: made }, 'json' in made ? [made.json.buffer] : [])
  } catch (error) {
    send(isPassing(error) ? { error, code: 'overloaded', message: passingMessage } : { error })
  }
})

/** Opens the connection for the first page. A failure to open affects only that page; the next one tries again. */
function make(request: ToLister): PlantPage | Summary {
  opened ??= new Pages(openReadable(path, limits.storeBusyMsMax), limits)
  return request.kind === 'list' ? opened.list(request.query) : opened.summary(limits.summaryTagsCounted)
}
