// Takes back what a start or a command that fails has made: the file of a store that is new, what lies beside it, and
// its folder. What holds a plant or a token stays.

import { realpathSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { statThere, toAbsolute } from '../paths.ts'
import { removeBeside } from './file/beside.ts'
import { takeLock } from './file/lock.ts'

/** Remembers what is not there yet. Gives a function that removes it again. */
export function prepareUndo(place: string): () => void {
  const path = toAbsolute(place)
  if (statThere(path) !== undefined) return () => {}
  const isFolderNew = statThere(dirname(path)) === undefined
  return () => {
    try {
      if (statThere(path) !== undefined) removeUnused(realpathSync(path))
      if (isFolderNew) rmdirSync(dirname(path))
    } catch {
      // Another process uses it by now, or it was never made. The command says why it failed.
    }
  }
}

function removeUnused(path: string): void {
  const lock = takeLock(path, 0, 'restore')
  if (lock === undefined) return
  try {
    if (statSync(path).size > 0 && !isUnused(path)) return
    removeBeside(path)
    rmSync(path)
    removeBeside(`${path}.lock`)
    rmSync(`${path}.lock`)
  } finally {
    lock.release()
  }
}

/** Whether a store has no plant and no token, and no other process has it open. */
function isUnused(path: string): boolean {
  using database = new DatabaseSync(path, { timeout: 0 })
  database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  const used = database.prepare('SELECT 1 FROM plants UNION ALL SELECT 1 FROM tokens').get()
  database.exec('COMMIT')
  return used === undefined
}
