// The wall clock and the monotonic clock. Tokens and keys expire by the wall clock, which may jump. Timeouts use the
// monotonic clock.

import { setTimeout } from 'node:timers/promises'

export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  wallMs(): number
  /** Milliseconds since an arbitrary fixed moment; never decreases. */
  monotonicMs(): number
}

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
}

/** A clock that can be waited for. */
export interface Timer extends Clock {
  /** Resolves after a time by the monotonic clock, or at once when the signal aborts. Keeps no process alive. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemTimer: Timer = {
  ...systemClock,
  sleep: (ms, signal) => setTimeout(ms, undefined, { ref: false, ...(signal && { signal }) }).catch(() => {}),
}
