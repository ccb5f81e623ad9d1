// Makes what becomes of files and their names survive a power cut. Without a sync of its folder a new name may be lost,
// and an old one come back, even if the file itself was synced.

import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readSync, renameSync, rmSync, unlinkSync, writeSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { codeOf } from '../domain/errors.ts'

const pieceBytes = 1024 * 1024
/** Of the name of a file, in that of a part of it: with what comes behind, it fits in the 255 bytes of a name. */
const nameCharactersMax = 50
/** Errors of a file system that has no hard links. */
const noLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

/** A name that no file has, in the folder of another, under which that is written until it is whole. */
export function partialOf(path: string): string {
  const start = [...basename(path)].slice(0, nameCharactersMax).join('')
  return join(dirname(path), `${start}.${randomUUID()}.partial`)
}

/**
 * Makes a file whole or not at all: it is written under a name of its own, and then given its name. What was written is
 * removed when that fails.
 *
 * @param give `renameDurably` to replace what has the name, `nameDurably` to leave it alone.
 * @param write makes the file under the path that it is given, and syncs it.
 * @returns what `write` gives; undefined when something has the name, and stays.
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

/** What stands in the way of its removal stood in the way of making it, and is said already. */
function removePartial(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {}
}

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
 * Makes a new file for its owner alone that has the bytes of another, on disk when it returns. Its folder is not
 * synced.
 */
export function copyDurably(from: string, to: string): void {
  const source = openSync(from, 'r')
  try {
    copyOpenDurably(source, to)
  } finally {
    closeSync(source)
  }
}

function copyOpenDurably(source: number, to: string): void {
  const target = openSync(to, 'wx', 0o600)
  try {
    writeFrom(source, target)
    fsyncSync(target)
  } finally {
    closeSync(target)
  }
}

/** Gives an open file, which may have lost its name, a copy of a name; what has that name is replaced. */
export function putBack(descriptor: number, path: string): void {
  const partial = partialOf(path)
  copyOpenDurably(descriptor, partial)
  renameDurably(partial, path)
}

/** Writes a file's own bytes over themselves, so that all of them are on disk, even if earlier writes failed. */
export function rewriteDurably(path: string): void {
  const descriptor = openSync(path, 'r+')
  try {
    writeFrom(descriptor, descriptor)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
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
 * Gives a synced file its name, in the same folder, in one step: after a crash at any moment the name has what it had
 * before, or the whole file. What was done to the folder before is on disk before the name changes.
 */
export function renameDurably(from: string, to: string): true {
  const folder = dirname(resolve(to))
  syncFolder(folder)
  renameSync(from, to)
  syncFolder(folder)
  return true
}

/**
 * Gives a synced file its name as `renameDurably` does, but never that of another file: false when there is something
 * under it.
 */
export function nameDurably(from: string, to: string): boolean {
  const folder = dirname(resolve(to))
  syncFolder(folder)
  if (!claimName(from, to)) return false
  syncFolder(folder)
  return true
}

/** Gives a file its name unless there is something under it, false then. A rename would replace that, a link does not. */
function claimName(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    unlinkSync(from)
    return true
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false
    if (!noLinks.includes(codeOf(cause) ?? '')) throw cause
  }
  return replaceOwn(from, to)
}

/** Where there are no links the name is first taken by an empty file. */
function replaceOwn(from: string, to: string): boolean {
  try {
    closeSync(openSync(to, 'wx', 0o600))
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false
    throw cause
  }
  renameSync(from, to)
  return true
}
