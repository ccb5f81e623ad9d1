// The token that a server makes for a store that has never had one: printed on a terminal, or written to a
// file, and not made where it would only end in a log.

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { allScopes } from '../domain/caller.ts'
import { AppError, SettingError } from '../domain/errors.ts'
import type { TokenStore } from '../domain/store.ts'
import { isWellFormedSecret } from '../domain/token.ts'
import { nameDurably, syncFolder, writeWhole } from '../store/files.ts'
import { assertFolderOf, explainSettingFailure, toAbsolute } from '../store/paths.ts'
import { mintToken } from './new-token.ts'

/**
 * - `notNeeded`: the store has tokens.
 * - `shown`: made, and to be shown to the reader of the terminal.
 * - `inFile`: made, and kept in the file.
 * - `notMade`: there is no terminal to show it on.
 */
export type FirstToken =
  | { readonly kind: 'notNeeded' }
  | { readonly kind: 'shown'; readonly secret: string }
  | { readonly kind: 'inFile'; readonly path: string }
  | { readonly kind: 'notMade' }

export interface FirstTokenPlace {
  /** The file for its secret, if one is wanted. */
  readonly path: string | undefined
  /** Whether there is a terminal. */
  readonly isTerminal: boolean
}

type FirstTokenStore = Pick<TokenStore, 'listTokens' | 'createFirstToken' | 'findToken'>

const secretBytesMax = 64

/** Makes the first token of a store, if it has none. Throws OperatorError when its file cannot be written. */
export async function makeFirstToken(
  store: FirstTokenStore,
  { path, isTerminal }: FirstTokenPlace,
): Promise<FirstToken> {
  if ((await store.listTokens()).length > 0) return { kind: 'notNeeded' }
  if (path !== undefined) return keepInFile(store, toAbsolute(path))
  if (!isTerminal) return { kind: 'notMade' }
  const { secret, ...token } = mintToken(first)
  return (await store.createFirstToken(token)) ? { kind: 'shown', secret } : { kind: 'notNeeded' }
}

const first = { name: 'first', scopes: allScopes }

/**
 * The file comes first, whole and synced. A server that is killed before the store has the token leaves a secret that
 * is not valid yet: the next start makes it the first token. So no token is ever valid that cannot be read.
 */
async function keepInFile(store: FirstTokenStore, path: string): Promise<FirstToken> {
  const written = await writeSecret(path, mintToken(first).secret)
  const { secret: _, ...token } = mintToken(first, written.secret)
  try {
    if (await store.createFirstToken(token)) return { kind: 'inFile', path }
  } catch (cause) {
    // Where the outcome is unknown, the file may be all that is left of the secret.
    const isNotDone = cause instanceof AppError && cause.code !== 'storeUnavailable'
    if (isNotDone && written.isNew) remove(path)
    throw cause
  }
  // Another server has made one: with the secret of this very file, or another, which makes this one worthless.
  if ((await store.findToken(token.hash)) !== undefined) return { kind: 'inFile', path }
  if (written.isNew) remove(path)
  return { kind: 'notNeeded' }
}

interface TokenFile {
  /** What the file has. */
  readonly secret: string
  /** Whether it was made just now. */
  readonly isNew: boolean
}

/** Makes a file with a secret, for its owner alone; one that a start before this one has left is taken as it is. */
async function writeSecret(path: string, secret: string): Promise<TokenFile> {
  let user = -1
  try {
    assertFolderOf(path)
    const isNew = await writeWhole(path, nameDurably, (partial) => {
      writeFileSync(partial, `${secret}\n`, { flag: 'wx', mode: 0o600, flush: true })
      user = statSync(partial).uid
      return true
    })
    return isNew ? { secret, isNew } : { secret: readLeft(path, user), isNew: false }
  } catch (cause) {
    throw explainSettingFailure(cause, path, 'written')
  }
}

/** The secret in a file that was left by a start before this one: a regular file of this user, closed to everybody else. */
function readLeft(path: string, user: number): string {
  const why = `${path} exists already, and a server has not left a token there; name another file, or remove it`
  if (lstatSync(path).isSymbolicLink()) throw new SettingError(why)
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const facts = fstatSync(descriptor)
    if (facts.isFile() && facts.uid === user && (facts.mode & 0o077) === 0 && facts.size <= secretBytesMax) {
      const text = readFileSync(descriptor, 'latin1').trimEnd()
      if (isWellFormedSecret(text)) return text
    }
  } finally {
    closeSync(descriptor)
  }
  throw new SettingError(why)
}

function remove(path: string): void {
  rmSync(path, { force: true })
  syncFolder(dirname(path))
}
