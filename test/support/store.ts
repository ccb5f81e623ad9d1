// Opens a store in the test's own process, as a command of the program would.

import { systemClock } from '../../src/cli/clock.ts'
import { limits } from '../../src/config.ts'
import type { Store } from '../../src/domain/store.ts'
import { openStore } from '../../src/store/open.ts'

export function openTestStore(path: string): Promise<Store> {
  return openStore(path, { exclusive: true, clock: systemClock, limits })
}
