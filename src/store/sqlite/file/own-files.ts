// The files of stores, which no command may write anything else to: not those of its own store, and none that a look
// shows to be a store's.

import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { OperatorError } from '../../../domain/errors.ts'
import { explainFileFailure, statThere, toAbsolute } from '../../paths.ts'
import { sqliteSuffixes } from './beside.ts'
import { isDatabase } from './header.ts'

/** What lies beside the file of a store. */
const suffixes = [...sqliteSuffixes, '.lock', '.restoring', '.backed-up'] as const

/** The paths of the files of a store in a file. */
export function filesOfStore(path: string): readonly string[] {
  const realPath = toRealPath(toAbsolute(path))
  return ['', ...suffixes].map((suffix) => realPath + suffix)
}

/**
 * Throws OperatorError when a file that a command is to write belongs to a store: writing there would destroy
 * it.
 *
 * @param own the files of the command's own store, by `Engine.filesOf`; they may still have to be made.
 */
export function assertNoStoreFile(file: string, own: readonly string[] = []): void {
  try {
    const path = toRealPath(toAbsolute(file))
    const store = suffixes.filter((suffix) => path.endsWith(suffix)).map((suffix) => path.slice(0, -suffix.length))
    if (!own.includes(path) && ![path, ...store].some(isDatabase)) return
    throw new OperatorError(`${file} is a file of a store, which would be destroyed; name another file`)
  } catch (cause) {
    throw explainFileFailure(cause, file, 'written')
  }
}

/** The real path of a file, or the one that it would be made under. */
function toRealPath(path: string): string {
  if (statThere(path) !== undefined) return realpathSync(path)
  const folder = dirname(path)
  return statThere(folder) === undefined ? path : join(realpathSync(folder), basename(path))
}
