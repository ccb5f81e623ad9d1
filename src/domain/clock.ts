// The two kinds of time. Tokens and keys expire by the wall clock, which may jump; waiting is measured by the monotonic
// one.

export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  wallMs(): number
  /** Milliseconds since some fixed moment; never goes back. */
  monotonicMs(): number
}

/** The clock of the machine. */
export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
}
