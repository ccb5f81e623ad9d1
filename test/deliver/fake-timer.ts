// A clock that the test advances.

import type { Timer } from '../../src/domain/clock.ts'

export class FakeTimer implements Timer {
  #wallMs = 1_800_000_000_000
  #monotonicMs = 0
  readonly #sleepers = new Set<{ readonly untilMs: number; readonly wake: () => void }>()

  wallMs(): number {
    return this.#wallMs
  }

  monotonicMs(): number {
    return this.#monotonicMs
  }

  after(ms: number, callback: () => void): () => void {
    const sleeper = { untilMs: this.#monotonicMs + ms, wake: callback }
    this.#sleepers.add(sleeper)
    return () => void this.#sleepers.delete(sleeper)
  }

  /** Lets time pass on both clocks. */
  pass(ms: number): void {
    this.#wallMs += ms
    this.#monotonicMs += ms
    for (const sleeper of this.#sleepers) {
      if (sleeper.untilMs > this.#monotonicMs) continue
      this.#sleepers.delete(sleeper)
      sleeper.wake()
    }
  }

  /** Sets the wall clock, as an operator does. */
  setWall(ms: number): void {
    this.#wallMs = ms
  }
}
