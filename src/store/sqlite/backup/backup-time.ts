// When a store was last backed up: the time of an empty file beside it, since a backup changes nothing in the store.

import { rmSync, writeFileSync } from 'node:fs'
import { messageOf } from '../../../domain/errors.ts'
import { statThere } from '../../paths.ts'

/** Notes that a backup is complete. Gives why that was not possible, a line, or nothing. */
export function noteBackup(store: string): readonly string[] {
  const path = markOf(store)
  try {
    // Made anew, as an earlier one may belong to another user, or be a link to what is none of ours.
    rmSync(path, { force: true })
    writeFileSync(path, '', { flag: 'wx' })
    return []
  } catch (cause) {
    return [`metrics do not tell of this backup: ${messageOf(cause)}`]
  }
}

/** 0 when there never was one. */
export function readBackupMs(store: string): number {
  return statThere(markOf(store))?.mtimeMs ?? 0
}

function markOf(store: string): string {
  return `${store}.backed-up`
}
