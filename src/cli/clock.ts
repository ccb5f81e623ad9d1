// The clock of the machine.

import type { Clock } from '../domain/clock.ts'

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
}
