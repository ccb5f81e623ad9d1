// Follows the changes of the store while the tab is visible, so that the page shows what others do. A browser opens few
// connections to a server, so a hidden tab does not keep one.

import { connectAside, isRefusal, statusOf } from './api.js'
import type { Change } from './client.js'
import { find, make } from './elements.js'
import { explain } from './messages.js'
import { may, token } from './token.js'

const words = { off: '', live: 'Live', away: 'Server unreachable' } as const
/** Pause after changes were shown, or could not be. */
const pauseMs = { shown: 1_000, failed: 5_000 } as const

let onChanges = async (_changes: readonly Change[]): Promise<void> => {}
let onBack = async (): Promise<void> => {}
let following: AbortController | undefined
/** The position of the last change; undefined to begin with the next one. */
let after: string | undefined
let waiting: Change[] = []
/** What makes many changes, which are shown once it has settled. */
let making: Promise<unknown> | undefined
let isShowing = false
/** Whether something could not be read. */
let isStale = false
/** Undefined while requests succeed. */
let awaySince: Date | undefined

/**
 * @param showChanges receives several at once, in order; none if anything may have changed.
 * @param recover called when the server is there again.
 */
export function startLive(showChanges: typeof onChanges, recover: typeof onBack): void {
  onChanges = showChanges
  onBack = recover
  document.addEventListener('visibilitychange', () => (document.hidden ? pause() : followChanges()))
  addEventListener('offline', () => {
    pause()
    tellAway()
  })
  addEventListener('online', followChanges)
}

export function followChanges(): void {
  if (following !== undefined || document.hidden || token.get() === '' || !may.read) return
  following = new AbortController()
  void follow(following.signal)
  if (isStale) void show()
}

export function stopLive(): void {
  pause()
  after = undefined
}

/** Tries again what could not be read, while the changes are followed, unless the service has refused it for good. */
export function readLater(refusal: unknown): void {
  const { error, status = 0 } = isRefusal(refusal) ? refusal : {}
  if (error !== undefined && status < 500 && status !== 429) return
  isStale = true
  setTimeout(() => void show(), pauseMs.failed)
}

/** Shows no changes before an action is done. */
export function showAfter<Result>(action: Promise<Result>): Promise<Result> {
  making = action.catch(() => {})
  return action
}

function tell(state: keyof typeof words): void {
  const time = state === 'away' ? awaySince?.toLocaleTimeString('en', { hour12: false }) : undefined
  const place = find('#live')
  place.dataset['state'] = state
  const since = time === undefined ? '' : ` since ${time.slice(0, -3)}. Retrying`
  place.replaceChildren(words[state], make('span.roomy', since))
}

export function tellAway(): void {
  awaySince ??= new Date()
  tell('away')
}

function pause(): void {
  following?.abort()
  following = undefined
  tell('off')
}

async function follow(signal: AbortSignal): Promise<void> {
  const onOpen = (): void => {
    tell('live')
    if (awaySince !== undefined) void onBack()
    awaySince = undefined
  }
  const onFailure = (): void => {
    if (!signal.aborted) tellAway()
  }
  try {
    if (after === undefined) {
      after = (await connectAside().listChanges({ after: 'now' }).pages().next()).value?.next
      // What the page shows may be older.
      isStale = true
      void show()
    }
    for await (const change of connectAside().followChanges({ after }, { signal, onOpen, onFailure })) {
      after = change.position
      waiting.push(change)
      void show()
    }
  } catch (refusal) {
    if (signal.aborted) return
    stopLive()
    // The tab was away for longer than the server keeps changes.
    if (statusOf(refusal) === 410) followChanges()
    // Such as that of a token that has expired.
    else if (statusOf(refusal) !== undefined) explain(refusal)
    else {
      tellAway()
      setTimeout(followChanges, pauseMs.failed)
    }
  }
}

async function show(): Promise<void> {
  if (isShowing) return
  isShowing = true
  while (waiting.length > 0 || (isStale && following !== undefined)) {
    await making
    const changes = waiting
    waiting = []
    isStale = false
    await onChanges(changes)
    await new Promise((resolve) => setTimeout(resolve, isStale ? pauseMs.failed : pauseMs.shown))
  }
  isShowing = false
}
