// Creates the first token of a store that has never had one: to be printed, or in a file. Creates none if it would end up
// in a log that nobody asked to have it.

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

type FirstTokenStore = Pick<TokenStore, 'listTokens' | 'createFirstToken' | 'findToken'>

const secretBytesMax = 64

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
 * Writes the file before the store, whole and synced. If the server is killed in between, the file's secret is not
 * valid yet, and the next start creates the first token from it. So every valid token can be read.
 */
async function keepInFile(store: FirstTokenStore, path: string): Promise<FirstToken> {
  const written = await writeSecret(path, mintToken(first).secret)
  const { secret: _, ...token } = mintToken(first, written.secret)
  try {
    if (await store.createFirstToken(token)) return { kind: 'inFile', path }
  } catch (cause) {
    // If the outcome is unknown, the file may be the only copy of the secret.
    const isNotDone = cause instanceof AppError && cause.code !== 'storeUnavailable'
    if (isNotDone && written.isNew) remove(path)
    throw cause
  }
  // Another server created a token: from this file's secret, or from another one, which makes the file useless.
  if ((await store.findToken(token.hash)) !== undefined) return { kind: 'inFile', path }
  if (written.isNew) remove(path)
  return { kind: 'notNeeded' }
}

interface TokenFile {
  /** The content of the file. */
  readonly secret: string
  /** Whether this call created it. */
  readonly isNew: boolean
}

/** Creates a file with a secret, readable only by its owner. Keeps a file that an earlier start left. */
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

/** Reads the secret that an earlier start left: a regular file of this user, inaccessible to others. */
function readLeft(path: string, user: number): string {
  const why = `${path} exists already, but is not a token file that a server left; remove it, or name another file`
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
