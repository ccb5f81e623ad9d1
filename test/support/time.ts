// Assertions about time that hold even on a busy machine.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/** How many times longer than promised something may take before a test takes it for broken. */
const busyFactor = 4
/** What takes longer than this on any machine does not come any more. */
const patienceMs = 60_000
const lookMs = 10

/** Fails when something that began then, by `performance.now()`, took far longer than is promised. */
export function assertPrompt(startedMs: number, promisedMs: number): void {
  assertDuration(performance.now() - startedMs, promisedMs)
}

/** The same for a duration that was measured already. */
export function assertDuration(tookMs: number, promisedMs: number): void {
  assert.ok(tookMs < promisedMs * busyFactor, `took ${tookMs.toFixed(0)} ms, promised are ${promisedMs}`)
}

/** Resolves once something has come about; fails with its name when it does not. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  waitMsMax = patienceMs,
): Promise<void> {
  const startedMs = performance.now()
  while (!(await condition())) {
    assert.ok(performance.now() - startedMs < waitMsMax, `${what}: not after ${waitMsMax} ms`)
    await sleep(lookMs)
  }
}
