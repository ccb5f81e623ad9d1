// Stops long-running commands on a signal.

import { systemClock } from '../domain/clock.ts'
import { limits } from '../limits.ts'
import type { Signal, Terminal } from '../terminal.ts'

/**
 * Returns a signal that aborts at the first SIGTERM, SIGINT, SIGQUIT or SIGHUP, or when the terminal has gone. A second
 * SIGTERM, SIGINT or SIGQUIT ends the process at once.
 *
 * @param onStop receives the name of the first signal, before the abort.
 * @param onHangup what a SIGHUP does instead, if the terminal is still there.
 */
export function stopOnSignal(
  terminal: Terminal,
  onStop?: (signal: string) => unknown,
  onHangup?: () => void,
): AbortSignal {
  const stopping = new AbortController()
  let stoppedAtMs = Number.POSITIVE_INFINITY
  const stop = (signal: Signal | 'SIGHUP'): void => {
    const nowMs = systemClock.monotonicMs()
    if (signal !== 'SIGHUP' && nowMs - stoppedAtMs > limits.sameSignalMs) terminal.endBy(signal)
    if (stopping.signal.aborted) return
    stoppedAtMs = nowMs
    onStop?.(signal)
    stopping.abort()
  }
  terminal.onSignal(stop)
  terminal.onHangup(onHangup ?? (() => stop('SIGHUP')))
  return stopping.signal
}
