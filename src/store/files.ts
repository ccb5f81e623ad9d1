// File operations that survive a power cut. Even if a file is synced, its new name may be lost, or an old one reappear,
// until the folder is synced.

import { closeSync, fsyncSync, linkSync, openSync, readSync, renameSync, rmSync, unlinkSync, writeSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { codeOf } from '../domain/errors.ts'

const pieceBytes = 1024 * 1024
/** Characters of a file's name that the name of its partial file keeps, to fit in 255 bytes. */
const nameCharactersMax = 50
/** Errors of a file system without hard links. */
const noLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

/** A unique temporary name, in the same folder, for a file that is not complete yet. */
export function partialOf(path: string): string {
  const start = [...basename(path)].slice(0, nameCharactersMax).join('')
  return join(dirname(path), `${start}.${crypto.randomUUID()}.partial`)
}

/**
 * Makes a file atomically: writes it under a temporary name, then renames it. Removes the temporary file on failure.
 *
 * @param give `renameDurably` to replace an existing file, `nameDurably` to keep it.
 * @param write makes and syncs the file at the given path.
 * @returns the result of `write`; undefined if an existing file was kept.
 */
export async function writeWhole<T>(
  path: string,
  give: (from: string, to: string) => boolean,
  write: (partial: string) => T | Promise<T>,
): Promise<T | undefined> {
  const partial = partialOf(path)
  let isNamed = false
  try {
    const written = await write(partial)
    isNamed = give(partial, path)
    return isNamed ? written : undefined
  } finally {
    if (!isNamed) removePartial(partial)
  }
}

/** Ignores errors: the error that made the write fail is already reported. */
function removePartial(path: string): void {
  try {
    rmSync(path, { force: true })
    // SQLite makes a journal beside a database that it is writing.
    rmSync(`${path}-journal`, { force: true })
  } catch {}
}

export function syncFolder(path: string): void {
  withFile(path, 'r', fsyncSync)
}

/** Copies an open file to a new one, readable only by its owner, and syncs it, but not its folder. */
export function copyDurably(descriptor: number, to: string): void {
  withFile(to, 'wx', (target) => {
    writeFrom(descriptor, target)
    fsyncSync(target)
  })
}

/** Opens a file, creates it for its owner alone if `flags` allow that, and closes it afterwards. */
export function withFile<T>(path: string, flags: string, use: (descriptor: number) => T): T {
  const descriptor = openSync(path, flags, 0o600)
  try {
    return use(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Copies an open file, which may have lost its name, to a path. Replaces an existing file. */
export function putBack(descriptor: number, path: string): void {
  const partial = partialOf(path)
  try {
    copyDurably(descriptor, partial)
    renameDurably(partial, path)
  } catch (cause) {
    removePartial(partial)
    throw cause
  }
}

/** Rewrites a file with its own bytes, so that all of them are on disk even if earlier writes failed. */
export function rewriteDurably(path: string): void {
  withFile(path, 'r+', (descriptor) => {
    writeFrom(descriptor, descriptor)
    fsyncSync(descriptor)
  })
}

function writeFrom(source: number, target: number): void {
  const piece = Buffer.alloc(pieceBytes)
  for (let position = 0; ; ) {
    const length = readSync(source, piece, 0, piece.length, position)
    if (length === 0) return
    for (let written = 0; written < length; ) {
      written += writeSync(target, piece, written, length - written, position + written)
    }
    position += length
  }
}

/**
 * Renames a synced file within its folder atomically: after a crash, the name has either the old content or the new.
 * Earlier changes of the folder reach the disk before the rename.
 */
export function renameDurably(from: string, to: string): true {
  const folder = dirname(resolve(to))
  syncFolder(folder)
  renameSync(from, to)
  syncFolder(folder)
  return true
}

/** Like `renameDurably`, but returns false if the name is taken. Unlike a rename, a link never replaces a file. */
export function nameDurably(from: string, to: string): boolean {
  const folder = dirname(resolve(to))
  syncFolder(folder)
  try {
    try {
      linkSync(from, to)
      unlinkSync(from)
    } catch (cause) {
      if (!noLinks.includes(codeOf(cause) ?? '')) throw cause
      // Without hard links, claim the name with an empty file first.
      withFile(to, 'wx', () => renameSync(from, to))
    }
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false
    throw cause
  }
  syncFolder(folder)
  return true
}
