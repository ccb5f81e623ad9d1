// Opens a store in the test's own process, as a server would unless the test says otherwise.

import { systemClock } from '../../src/cli/clock.ts'
import type { Store } from '../../src/domain/store.ts'
import { limits } from '../../src/limits.ts'
import type { StoreOptions } from '../../src/store/engine.ts'
import { openStore } from '../../src/store/open.ts'

/** What a test's own connection that writes is opened with. */
export const writable = { ...limits, isAlone: true } as const

export function openTestStore(place: string, changed: Partial<StoreOptions> = {}): Promise<Store> {
  return openStore(place, {
    exclusive: true,
    mayMake: true,
    clock: systemClock,
    limits,
    environment: {},
    observe: () => {},
    ...changed,
  })
}
