// Protects the files of stores: no command may overwrite a file of its own store, or any other file that belongs to a
// store.

import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { OperatorError } from '../../../domain/errors.ts'
import { explainFileFailure, statThere, toAbsolute } from '../../paths.ts'
import { sqliteSuffixes } from './beside.ts'
import { isDatabase } from './header.ts'

/** Suffixes of the files beside a store. */
const suffixes = [...sqliteSuffixes, '.lock', '.restoring', '.backed-up'] as const

/** The paths of all files of a store. */
export function filesOfStore(path: string): readonly string[] {
  const realPath = toRealPath(toAbsolute(path))
  return ['', ...suffixes].map((suffix) => realPath + suffix)
}

/**
 * Throws OperatorError if a file belongs to a store, which writing to it would destroy.
 *
 * @param own the files of the command's own store, from `Engine.filesOf`; they may not exist yet.
 */
export function assertNoStoreFile(file: string, own: readonly string[] = []): void {
  try {
    const path = toRealPath(toAbsolute(file))
    const store = suffixes.filter((suffix) => path.endsWith(suffix)).map((suffix) => path.slice(0, -suffix.length))
    if (!own.includes(path) && ![path, ...store].some(isDatabase)) return
    throw new OperatorError(`${file} belongs to a store, which this would destroy; name another file`)
  } catch (cause) {
    throw explainFileFailure(cause, file, 'written')
  }
}

/** The real path of a file, even if it does not exist yet. */
function toRealPath(path: string): string {
  if (statThere(path) !== undefined) return realpathSync(path)
  const folder = dirname(path)
  return statThere(folder) === undefined ? path : join(realpathSync(folder), basename(path))
}
