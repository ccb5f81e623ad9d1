// What a server has open of a store besides its file: the log, and the index of the log. A command that opened the store
// without them would make others, of which the server knows nothing, and both would overwrite what the other one writes.

import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../../domain/clock.ts'
import { OperatorError } from '../../../domain/errors.ts'
import { assertLocks } from './database.ts'
import { isRestored, isServed } from './lock.ts'

interface WaitLimits {
  readonly storeLockMsMax: number
  readonly storeLockCheckMs: number
}

/** Why a store must not be opened beside its server, if anything is missing. For a moment it is at a start or a stop. */
export function findMissing(path: string): string | undefined {
  const missing = ['-wal', '-shm'].map((suffix) => path + suffix).find((name) => !existsSync(name))
  if (missing === undefined || !isServed(path) || isRestored(path)) return undefined
  return `${missing} is missing although a server has ${path} open; stop the server, start it again, and then try again`
}

/** Waits for what is missing. Throws OperatorError when it stays away. */
export async function untilWhole(path: string, limits: WaitLimits, clock: Clock): Promise<void> {
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
