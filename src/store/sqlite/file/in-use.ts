// Detects that the log or the index of a running server's store was deleted. A command that opened the store would
// create new ones, and both processes would overwrite each other's changes.

import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../../domain/clock.ts'
import { OperatorError } from '../../../domain/errors.ts'
import type { Limits } from '../../../limits.ts'
import { assertLocks } from './database.ts'
import { isRestored, isServed } from './lock.ts'

/** Explains which file is missing beside a running server. Files are briefly missing while it starts or stops. */
export function findMissing(path: string): string | undefined {
  const missing = ['-wal', '-shm'].map((suffix) => path + suffix).find((name) => !existsSync(name))
  if (missing === undefined || !isServed(path) || isRestored(path)) return undefined
  return `${missing} is missing although a server has ${path} open; stop the server, start it again, and then try again`
}

/** Waits for missing files. Throws OperatorError if they do not appear in time. */
export async function untilWhole(path: string, limits: Limits, clock: Clock): Promise<void> {
  const deadlineMs = clock.monotonicMs() + limits.storeLockMsMax
  for (;;) {
    const missing = findMissing(path)
    if (missing === undefined) return
    if (clock.monotonicMs() >= deadlineMs) {
      assertLocks(path)
      throw new OperatorError(missing)
    }
    await sleep(limits.storeLockCheckMs)
  }
}
