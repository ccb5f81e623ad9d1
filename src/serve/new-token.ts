// Creates tokens: the secret for the caller, the hash for the store. The first token of a store is printed or kept in a
// file.

import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { allScopes, type Scope } from '../domain/caller.ts'
import { systemClock } from '../domain/clock.ts'
import { AppError, SettingError } from '../domain/errors.ts'
import type { TokenStore } from '../domain/store.ts'
import { hashSecret, mintId, mintSecret, type Token } from '../domain/token.ts'
import { nameDurably, syncFolder, writeWhole } from '../store/files.ts'
import { assertFolderOf, explainSettingFailure, toAbsolute } from '../store/paths.ts'

export interface NewToken {
  readonly name: string
  readonly scopes: readonly Scope[]
  /** If undefined, the token does not expire. */
  readonly lifetimeMs?: number | undefined
}

/** Creates a token and stores its hash. Only the caller knows the secret. */
export async function createToken(store: TokenStore, wanted: NewToken): Promise<Token & { secret: string }> {
  const { secret, ...token } = mintToken(wanted)
  await store.createToken(token)
  return { ...token, secret }
}

/** Makes a token without storing it. */
export function mintToken({ name, scopes, lifetimeMs }: NewToken): Token & { secret: string } {
  const secret = mintSecret(randomBytes(32))
  const createdAtMs = systemClock.wallMs()
  return {
    secret,
    id: mintId('tok', randomBytes(9)),
    hash: hashSecret(secret),
    name,
    scopes,
    createdAtMs,
    ...(lifetimeMs !== undefined && { expiresAtMs: createdAtMs + lifetimeMs }),
  }
}

/** `notMade`: there is no terminal to show it on. */
export type FirstToken =
  | { readonly kind: 'notNeeded' | 'notMade' }
  | { readonly kind: 'shown'; readonly secret: string }
  | { readonly kind: 'inFile'; readonly path: string }

type FirstTokenStore = Pick<TokenStore, 'listTokens' | 'createFirstToken'>

/**
 * Creates the first token of a store that has none, unless its secret would end up in a log without anyone's request.
 *
 * @param path the file for the secret, `-` to print it wherever the program runs, undefined to print it on a terminal
 * only.
 * @throws OperatorError if the file cannot be written.
 */
export async function makeFirstToken(
  store: FirstTokenStore,
  { path, isTerminal }: { readonly path: string | undefined; readonly isTerminal: boolean },
): Promise<FirstToken> {
  if ((await store.listTokens()).length > 0) return { kind: 'notNeeded' }
  if (path !== undefined && path !== '-') return keepInFile(store, toAbsolute(path))
  if (path === undefined && !isTerminal) return { kind: 'notMade' }
  const { secret, ...token } = mintToken(first)
  return (await store.createFirstToken(token)) ? { kind: 'shown', secret } : { kind: 'notNeeded' }
}

const first = { name: 'first', scopes: allScopes }

/**
 * Writes the file before the store, whole and synced, so that its owner can read every valid token. If the server is
 * killed in between, the next start refuses the file.
 */
async function keepInFile(store: FirstTokenStore, path: string): Promise<FirstToken> {
  const { secret, ...token } = mintToken(first)
  const isWritten = await writeWhole(path, nameDurably, (partial) => {
    assertFolderOf(path)
    writeFileSync(partial, `${secret}\n`, { flag: 'wx', mode: 0o600, flush: true })
    return true
  }).catch((cause) => {
    throw explainSettingFailure(cause, path, 'written')
  })
  if (isWritten === undefined) throw new SettingError(`${path} exists already; remove it, or name another file`)
  try {
    if (await store.createFirstToken(token)) return { kind: 'inFile', path }
  } catch (cause) {
    // If the outcome is unknown, the file may be the only copy of the secret.
    if (cause instanceof AppError && cause.code !== 'storeUnavailable') remove(path)
    throw cause
  }
  // Another server has created one in the meantime.
  remove(path)
  return { kind: 'notNeeded' }
}

function remove(path: string): void {
  rmSync(path, { force: true })
  syncFolder(dirname(path))
}
