// A timeout for promises.

import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves with the value of a promise, or with undefined after `msMax`. Rejects if the promise rejects before. */
export async function answerWithin<T>(answer: Promise<T>, msMax: number): Promise<{ readonly value: T } | undefined> {
  const answered = new AbortController()
  const late = sleep(msMax, undefined, { signal: answered.signal }).catch(() => undefined)
  try {
    return await Promise.race([answer.then((value) => ({ value })), late])
  } finally {
    answered.abort()
  }
}
