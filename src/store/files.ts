// Makes what becomes of files and their names survive a power cut. Without a sync of its folder a new name may be lost,
// and an old one come back, whatever was synced of the file itself.

import { closeSync, fsyncSync, openSync, readSync, renameSync, writeSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

const pieceBytes = 1024 * 1024

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
  const [source, target] = [openSync(from, 'r'), openSync(to, 'wx', 0o600)]
  try {
    writeFrom(source, target)
    fsyncSync(target)
  } finally {
    closeSync(source)
    closeSync(target)
  }
}

/** Writes a file's own bytes over themselves, so that all of them are on disk, whatever became of earlier writes. */
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
export function renameDurably(from: string, to: string): void {
  const folder = dirname(resolve(to))
  syncFolder(folder)
  renameSync(from, to)
  syncFolder(folder)
}
