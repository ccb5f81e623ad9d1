// Stores as commands use them, with or without a running server.

import { systemClock } from '../domain/clock.ts'
import { MissingStoreError, OperatorError } from '../domain/errors.ts'
import type { Store } from '../domain/store.ts'
import { commandLimits } from '../limits.ts'
import type { StoreOptions } from '../store/engine.ts'
import { engineOf, openStore } from '../store/open.ts'
import { assertNoStoreFile } from '../store/sqlite/file/names.ts'
import { print, say, type Terminal } from '../terminal.ts'
import { formatTable, type Listing, printJson } from './output.ts'

/** Store options for commands. A command reports store events through its own failure. */
export function commandOptions({ environment }: Terminal): StoreOptions {
  return { exclusive: false, mayMake: true, clock: systemClock, limits: commandLimits, environment, observe: () => {} }
}

/** Runs a command on a store, which is created if missing. Reports a new store, because its place may be mistyped. */
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
    if (isNew) say(`A new store was created at ${engine.describe(place)}`, terminal)
  }
}

export function openExisting(place: string, terminal: Terminal): Promise<Store> {
  return openStore(place, { ...commandOptions(terminal), mayMake: false }).catch((cause) => {
    if (!(cause instanceof MissingStoreError)) throw cause
    throw new OperatorError(`${cause.message}; name one with --store`, { cause })
  })
}

/**
 * Turns an action on an existing store into a command. The action returns a sentence for stderr, a listing for stdout
 * (as JSON with `--json`), or undefined if it has printed a secret.
 */
export function onStore<Options>(
  act: (store: Store, options: Options, terminal: Terminal) => Promise<string | Listing | undefined>,
): (options: Options & { readonly store: string; readonly json?: boolean }, terminal: Terminal) => Promise<void> {
  return async (options, terminal) => {
    await using store = await openExisting(options.store, terminal)
    const result = await act(store, options, terminal)
    if (typeof result === 'string') say(result, terminal)
    else if (result !== undefined && options.json === true) await printJson(result.value, terminal)
    else if (result !== undefined) await print(terminal.stdout, formatTable(result.rows))
  }
}

export function findById<T extends { readonly id: string }>(kind: string, all: readonly T[], id: string): T {
  const found = all.find((each) => each.id === id)
  if (found === undefined) throw unknownId(kind, id)
  return found
}

export function unknownId(kind: string, id: string): OperatorError {
  return new OperatorError(`there is no ${kind} ${id}; \`plantstore ${kind} list\` shows them`)
}

/** Throws OperatorError if a command's output file belongs to a store, the given one or another. */
export async function assertNotOfStore(file: string, place: string): Promise<void> {
  assertNoStoreFile(file, (await engineOf(place)).filesOf(place))
}
