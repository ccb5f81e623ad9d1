// Makes what becomes of files and their names survive a power cut. Without a sync of its folder a new name may be lost,
// and an old one come back, whatever was synced of the file itself.

import { closeSync, fsyncSync, openSync, renameSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Makes what is in a file survive a power cut. */
export function syncFile(path: string): void {
  const descriptor = openSync(path, 'r+')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Makes what was made, renamed or removed in a folder survive a power cut. */
export function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Gives a synced file its name, in the same folder, in one step: after a crash at any moment the name has what it had
 * before, or the whole file. What was done to the folder before is on disk before the name changes.
 */
export function renameDurably(from: string, to: string): void {
  const folder = dirname(resolve(to))
  syncFolder(folder)
  renameSync(from, to)
  syncFolder(folder)
}
