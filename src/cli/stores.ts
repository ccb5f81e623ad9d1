// Opens stores for commands, with or without a running server.

import { systemClock } from '../domain/clock.ts'
import { MissingStoreError, OperatorError } from '../domain/errors.ts'
import type { Store } from '../domain/store.ts'
import { commandLimits } from '../limits.ts'
import type { StoreOptions } from '../store/engine.ts'
import { engineOf, openStore } from '../store/open.ts'
import { assertNoStoreFile } from '../store/sqlite/file/names.ts'
import type { Terminal } from '../terminal.ts'

/** Store options for commands. A command reports store events through its own failure. */
export function commandOptions({ environment }: Terminal): StoreOptions {
  return { exclusive: false, mayMake: true, clock: systemClock, limits: commandLimits, environment, observe: () => {} }
}

/** Opens a store, creating it if missing, runs the command, and reports a new store: its place may be mistyped. */
export async function withStore<Result>(
  place: string,
  terminal: Terminal,
  run: (store: Store) => Promise<Result>,
): Promise<Result> {
  const engine = await engineOf(place)
  const isNew = !engine.mayBeThere(place)
  await using store = await openStore(place, commandOptions(terminal))
  try {
    return await run(store)
  } finally {
    if (isNew) terminal.stderr.write(`A new store was created at ${engine.describe(place)}\n`)
  }
}

/** Opens an existing store. */
export function openExisting(place: string, terminal: Terminal): Promise<Store> {
  return openStore(place, { ...commandOptions(terminal), mayMake: false }).catch((cause) => {
    if (!(cause instanceof MissingStoreError)) throw cause
    throw new OperatorError(`${cause.message}; name one with --store`, { cause })
  })
}

/** Opens a store; undefined if there is none. */
export function openIfThere(place: string, terminal: Terminal): Promise<Store | undefined> {
  return openStore(place, { ...commandOptions(terminal), mayMake: false }).catch((cause) => {
    if (cause instanceof MissingStoreError) return undefined
    throw cause
  })
}

/** Makes a command of what is done with an existing store. The command says what that returns. */
export function onStore<Options>(
  act: (store: Store, options: Options, terminal: Terminal) => Promise<string | undefined>,
): (options: Options & { readonly store: string }, terminal: Terminal) => Promise<void> {
  return async (options, terminal) => {
    await using store = await openExisting(options.store, terminal)
    const said = await act(store, options, terminal)
    if (said !== undefined) terminal.stderr.write(`${said}\n`)
  }
}

/** Throws OperatorError if a command's output file belongs to a store, the given one or another. */
export async function assertNotOfStore(file: string, place: string): Promise<void> {
  assertNoStoreFile(file, (await engineOf(place)).filesOf(place))
}
