// The wall clock and the monotonic clock. Tokens and keys expire by the wall clock, which may jump. Timeouts use the
// monotonic clock.

export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  wallMs(): number
  /** Milliseconds since an arbitrary fixed moment; never decreases. */
  monotonicMs(): number
}

/** A clock that can be waited for. */
export interface Timer extends Clock {
  /** Calls back after a time by the monotonic clock; returns a function that cancels it. Keeps no process alive. */
  after(ms: number, callback: () => void): () => void
}

export const systemClock: Timer = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms).unref()
    return () => clearTimeout(timer)
  },
}
