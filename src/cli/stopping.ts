// Stops long-running commands on a signal.

import { systemClock } from '../domain/clock.ts'
import { limits } from '../limits.ts'
import type { Terminal } from '../terminal.ts'

/**
 * Returns a signal that aborts at the first SIGTERM, SIGINT or SIGQUIT, or when the terminal has gone. A second
 * signal ends the process at once.
 *
 * @param onStop receives the name of the first signal, before the abort.
 */
export function stopOnSignal(terminal: Terminal, onStop?: (signal: string) => void): AbortSignal {
  const stopping = new AbortController()
  let stoppedAtMs = Number.POSITIVE_INFINITY
  terminal.onSignal((signal) => {
    const nowMs = systemClock.monotonicMs()
    if (signal !== 'SIGHUP' && nowMs - stoppedAtMs > limits.sameSignalMs) terminal.endBy(signal)
    if (stopping.signal.aborted) return
    stoppedAtMs = nowMs
    onStop?.(signal)
    stopping.abort()
  })
  return stopping.signal
}
