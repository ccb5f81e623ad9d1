// The time of the last backup, stored as the mtime of an empty file beside the store, because a backup does not change
// the store.

import { rmSync, writeFileSync } from 'node:fs'
import { messageOf } from '../../../domain/errors.ts'
import { statThere } from '../../paths.ts'

/** Records that a backup is complete. Returns a warning if that fails. */
export function noteBackup(store: string): readonly string[] {
  const path = markOf(store)
  try {
    // Replace an existing file: it may belong to another user, or be a link to an unrelated file.
    rmSync(path, { force: true })
    writeFileSync(path, '', { flag: 'wx' })
    return []
  } catch (cause) {
    return [`the metrics do not show this backup: ${messageOf(cause)}`]
  }
}

/** Returns 0 if there was no backup. */
export function readBackupMs(store: string): number {
  return statThere(markOf(store))?.mtimeMs ?? 0
}

function markOf(store: string): string {
  return `${store}.backed-up`
}
