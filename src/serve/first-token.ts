// Creates the first token of a store that has never had one: to be printed, or in a file. Creates none if it would end up
// in a log that nobody asked to have it.

import { rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { allScopes } from '../domain/caller.ts'
import { AppError, SettingError } from '../domain/errors.ts'
import type { TokenStore } from '../domain/store.ts'
import { nameDurably, syncFolder, writeWhole } from '../store/files.ts'
import { assertFolderOf, explainSettingFailure, toAbsolute } from '../store/paths.ts'
import { mintToken } from './new-token.ts'

/**
 * - `notNeeded`: the store has tokens.
 * - `shown`: created, to be printed.
 * - `inFile`: created, and kept in the file.
 * - `notMade`: there is no terminal to show it on.
 */
export type FirstToken =
  | { readonly kind: 'notNeeded' }
  | { readonly kind: 'shown'; readonly secret: string }
  | { readonly kind: 'inFile'; readonly path: string }
  | { readonly kind: 'notMade' }

export interface FirstTokenPlace {
  /** The file for the secret, `-` to print it wherever the program runs, undefined to print it on a terminal only. */
  readonly path: string | undefined
  readonly isTerminal: boolean
}

type FirstTokenStore = Pick<TokenStore, 'listTokens' | 'createFirstToken'>

/** Creates the first token of a store if it has none. Throws OperatorError if its file cannot be written. */
export async function makeFirstToken(
  store: FirstTokenStore,
  { path, isTerminal }: FirstTokenPlace,
): Promise<FirstToken> {
  if ((await store.listTokens()).length > 0) return { kind: 'notNeeded' }
  if (path !== undefined && path !== '-') return keepInFile(store, toAbsolute(path))
  if (path === undefined && !isTerminal) return { kind: 'notMade' }
  const { secret, ...token } = mintToken(first)
  return (await store.createFirstToken(token)) ? { kind: 'shown', secret } : { kind: 'notNeeded' }
}

const first = { name: 'first', scopes: allScopes }

/**
 * Writes the file before the store, whole and synced: every valid token can be read. If the server is killed in between,
 * the next start refuses the file.
 */
async function keepInFile(store: FirstTokenStore, path: string): Promise<FirstToken> {
  const { secret, ...token } = mintToken(first)
  await writeSecret(path, secret)
  try {
    if (await store.createFirstToken(token)) return { kind: 'inFile', path }
  } catch (cause) {
    // If the outcome is unknown, the file may be the only copy of the secret.
    if (cause instanceof AppError && cause.code !== 'storeUnavailable') remove(path)
    throw cause
  }
  // Another server created one meanwhile.
  remove(path)
  return { kind: 'notNeeded' }
}

/** Creates a file with a secret, readable only by its owner. */
async function writeSecret(path: string, secret: string): Promise<void> {
  const isWritten = await writeWhole(path, nameDurably, (partial) => {
    assertFolderOf(path)
    writeFileSync(partial, `${secret}\n`, { flag: 'wx', mode: 0o600, flush: true })
    return true
  }).catch((cause) => {
    throw explainSettingFailure(cause, path, 'written')
  })
  if (isWritten === undefined) throw new SettingError(`${path} exists already; remove it, or name another file`)
}

function remove(path: string): void {
  rmSync(path, { force: true })
  syncFolder(dirname(path))
}
