// Deletes old changes from the log, in small steps, so that no request waits for long.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../domain/clock.ts'
import type { Store } from '../domain/store.ts'
import type { Limits } from '../limits.ts'

/** How long the log keeps changes that a webhook has not delivered. */
const webhookKeptMs = 3 * 24 * 60 * 60 * 1000

/**
 * Sweeps the log periodically. All servers of a fleet do so, at different times.
 *
 * @param keptMs how long a change is kept. Changes that a webhook has not delivered are kept for up to three days,
 * unless the log is too large.
 */
export function startSweeping(
  store: Pick<Store, 'sweepChanges' | 'listWebhooks' | 'measure'>,
  keptMs: number,
  clock: Clock,
  { changesSweepMs, changesBytesMax, changesKeptMsMin }: Limits,
): Disposable {
  const changesKeptMs = Math.max(keptMs, changesKeptMsMin)
  const ending = new AbortController()
  const { signal } = ending
  void sweep()
  return { [Symbol.dispose]: () => ending.abort() }

  async function sweep(): Promise<void> {
    while (!signal.aborted) {
      await sleep(changesSweepMs * 2 * Math.random(), undefined, { signal, ref: false }).catch(() => {})
      // Old changes do no harm, so a failed sweep can wait for the next one.
      for (let isMore = true; isMore && !signal.aborted; ) isMore = await sweepOnce().catch(() => false)
    }
  }

  async function sweepOnce(): Promise<boolean> {
    const hooks = await store.listWebhooks()
    const isLarge = hooks.length > 0 && (await store.measure()).changesBytes > changesBytesMax
    const behind = isLarge ? [] : hooks.flatMap(({ progress }) => [progress, ...progress.blocked])
    const needed = behind.map(({ after }) => after).filter((each) => each !== undefined)
    const isMore = await store.sweepChanges(clock.wallMs() - changesKeptMs, needed)
    if (needed.length === 0) return isMore
    return (await store.sweepChanges(clock.wallMs() - Math.max(changesKeptMs, webhookKeptMs))) || isMore
  }
}
