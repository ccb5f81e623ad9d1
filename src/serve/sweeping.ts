// Deletes old changes from the log, in small steps, so that no request waits for long.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../domain/clock.ts'
import type { ChangeStore } from '../domain/store.ts'

export interface SweepLimits {
  readonly changesSweepMs: number
}

/**
 * Sweeps the log periodically. All servers of a fleet do so, at different times.
 *
 * @param keptMs how long a change is kept.
 */
export function startSweeping(
  store: Pick<ChangeStore, 'sweepChanges'>,
  keptMs: number,
  clock: Clock,
  { changesSweepMs }: SweepLimits,
): Disposable {
  const ending = new AbortController()
  const { signal } = ending
  const sweep = async (): Promise<void> => {
    while (!signal.aborted) {
      await sleep(changesSweepMs * 2 * Math.random(), undefined, { signal, ref: false }).catch(() => {})
      let isMore = !signal.aborted
      // Old changes do no harm, so a failed sweep can wait for the next one.
      while (isMore) isMore = (await store.sweepChanges(clock.wallMs() - keptMs).catch(() => false)) && !signal.aborted
    }
  }
  void sweep()
  return { [Symbol.dispose]: () => ending.abort() }
}
