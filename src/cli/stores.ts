// Opens stores for commands, beside a server or without one.

import { systemClock } from '../domain/clock.ts'
import { MissingStoreError, OperatorError } from '../domain/errors.ts'
import type { Store } from '../domain/store.ts'
import { commandLimits } from '../limits.ts'
import type { StoreOptions } from '../store/engine.ts'
import { engineOf, openStore } from '../store/open.ts'
import { assertNoStoreFile } from '../store/sqlite/file/own-files.ts'
import type { Terminal } from '../terminal.ts'

/** What a command opens a store with. What happens to the store it tells by its own failure. */
export function commandOptions({ environment }: Terminal): StoreOptions {
  return { exclusive: false, mayMake: true, clock: systemClock, limits: commandLimits, environment, observe: () => {} }
}

/** Opens the store at a place, making it when it is missing. */
export function openForCommand(place: string, terminal: Terminal): Promise<Store> {
  return openStore(place, commandOptions(terminal))
}

/**
 * Opens as `openForCommand` does, runs, and says so when the store is new: a mistyped place is to be noticed. A new one
 * is gone again when the command fails before it kept anything in it.
 */
export async function withStore<Result>(
  place: string,
  terminal: Terminal,
  run: (store: Store) => Promise<Result>,
): Promise<Result> {
  return undoOnFailure(place, async () => {
    const engine = await engineOf(place)
    const isNew = !engine.mayBeThere(place)
    await using store = await openForCommand(place, terminal)
    const result = await run(store)
    if (isNew) terminal.stderr.write(`A new store was created at ${engine.describe(place)}\n`)
    return result
  })
}

/** Runs what may make a store at a place. When it fails, a new store is gone again that nothing was kept in. */
export async function undoOnFailure<Result>(place: string, run: () => Promise<Result>): Promise<Result> {
  const undo = (await engineOf(place)).prepareUndo(place)
  try {
    return await run()
  } catch (cause) {
    undo()
    throw cause
  }
}

/** Opens a store that has to be there. */
export async function openExisting(place: string, terminal: Terminal): Promise<Store> {
  try {
    return await openStore(place, { ...commandOptions(terminal), mayMake: false })
  } catch (cause) {
    if (!(cause instanceof MissingStoreError)) throw cause
    throw new OperatorError(`${cause.message}; name one with --store`, { cause })
  }
}

/** Opens a store, or gives undefined when there is none. */
export async function openIfThere(place: string, terminal: Terminal): Promise<Store | undefined> {
  try {
    return await openStore(place, { ...commandOptions(terminal), mayMake: false })
  } catch (cause) {
    if (cause instanceof MissingStoreError) return undefined
    throw cause
  }
}

/** Throws OperatorError when a file that a command is to write belongs to the store at a place, or to another one. */
export async function assertNotOfStore(file: string, place: string): Promise<void> {
  assertNoStoreFile(file, (await engineOf(place)).filesOf(place))
}

/** Throws OperatorError when it is sure that there is no store at a place. */
export async function assertThere(place: string): Promise<void> {
  const engine = await engineOf(place)
  if (engine.mayBeThere(place)) return
  throw new OperatorError(`there is no store at ${engine.describe(place)}; name one with --store`)
}
