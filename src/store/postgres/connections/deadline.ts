// Waiting for an answer, but not for ever.

import { setTimeout as sleep } from 'node:timers/promises'

/** What a promise gives within a time, or undefined when it takes longer; its failure within that time is thrown. */
export async function answerWithin<T>(answer: Promise<T>, msMax: number): Promise<{ readonly value: T } | undefined> {
  const answered = new AbortController()
  const late = sleep(msMax, undefined, { signal: answered.signal }).catch(() => undefined)
  try {
    return await Promise.race([answer.then((value) => ({ value })), late])
  } finally {
    answered.abort()
  }
}
