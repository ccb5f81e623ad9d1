// Opens stores for commands, beside a server or without one.

import { limits } from '../config.ts'
import { OperatorError } from '../domain/errors.ts'
import type { Store } from '../domain/store.ts'
import { describePlace, mayBeThere, openStore } from '../store/open.ts'
import type { StoreOptions } from '../store/options.ts'
import { systemClock } from './clock.ts'
import type { Terminal } from './terminal.ts'

/** What a command opens a store with. What happens to the store it tells by its own failure. */
export function commandOptions({ environment }: Terminal): StoreOptions {
  return { exclusive: false, mayMake: true, clock: systemClock, limits, environment, observe: () => {} }
}

/** Opens the store at a place, making it when it is missing. */
export function openForCommand(place: string, terminal: Terminal): Promise<Store> {
  return openStore(place, commandOptions(terminal))
}

/** Opens a store that has to be there. */
export function openExisting(place: string, terminal: Terminal): Promise<Store> {
  assertThere(place)
  return openStore(place, { ...commandOptions(terminal), mayMake: false })
}

export function assertThere(place: string): void {
  if (!mayBeThere(place)) throw new OperatorError(`there is no store at ${describePlace(place)}; name one with --store`)
}
