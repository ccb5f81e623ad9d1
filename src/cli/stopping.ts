// How a command that takes a while is told to end.

import { systemClock } from '../domain/clock.ts'
import { limits } from '../limits.ts'
import type { Terminal } from '../terminal.ts'

/**
 * Gives a signal that is aborted at the first SIGTERM, SIGINT or SIGQUIT; a second one ends the process at once.
 *
 * @param onStop told the name of the first one, before the abort.
 */
export function stopOnSignal(terminal: Terminal, onStop: (signal: string) => void): AbortSignal {
  const stopping = new AbortController()
  let stoppedAtMs = Number.POSITIVE_INFINITY
  terminal.onSignal((signal) => {
    const nowMs = systemClock.monotonicMs()
    if (nowMs - stoppedAtMs > limits.sameSignalMs) terminal.endBy(signal)
    if (stopping.signal.aborted) return
    stoppedAtMs = nowMs
    onStop(signal)
    stopping.abort()
  })
  return stopping.signal
}
