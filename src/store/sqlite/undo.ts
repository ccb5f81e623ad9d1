// Removes the files that a failed start or command created: the file of a new store, the files beside it, and its
// folder. Keeps a store that contains a plant, a token or a webhook.

import { realpathSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { statThere, toAbsolute } from '../paths.ts'
import { removeBeside } from './file/beside.ts'
import { takeLock } from './file/lock.ts'

/** Remembers which files do not exist yet. Returns a function that removes them. */
export function prepareUndo(place: string): () => void {
  const path = toAbsolute(place)
  if (statThere(path) !== undefined) return () => {}
  const isFolderNew = statThere(dirname(path)) === undefined
  return () => {
    try {
      if (statThere(path) !== undefined) removeUnused(realpathSync(path))
      if (isFolderNew) rmdirSync(dirname(path))
    } catch {
      // Another process is using the store, or it was never created. The command reports its own failure.
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

/** Whether a store has neither plants, tokens nor webhooks. Throws if another process has it open. */
function isUnused(path: string): boolean {
  using database = new DatabaseSync(path, { timeout: 0 })
  database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  const used = database
    .prepare('SELECT 1 FROM plants UNION ALL SELECT 1 FROM tokens UNION ALL SELECT 1 FROM webhooks')
    .get()
  database.exec('COMMIT')
  return used === undefined
}
