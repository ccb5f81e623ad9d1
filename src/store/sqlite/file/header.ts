// The first bytes of an SQLite database, its write-ahead log and its journal (sqlite.org/fileformat2.html): what they
// tell before SQLite opens the database, which might change it.

import { closeSync, openSync, readSync, statSync } from 'node:fs'

export interface Header {
  /** Whether the database is one with a write-ahead log: without, a log that lies beside it is another's. */
  readonly hasLog: boolean
  /** Bytes that the file has to have, as far as its header knows; 0 when it does not. */
  readonly bytesMin: number
}

const magic = Buffer.from('SQLite format 3\0')
const headerBytes = 100
const logHeaderBytes = 32
const frameHeaderBytes = 24
const logMagic = 0x377f0682

/** Whether a file begins as every database does that is not empty. */
export function isDatabase(path: string): boolean {
  return readFirstBytes(path, magic.length)?.equals(magic) === true
}

/** The header of a database; undefined for a file that is missing, or too short to have one. */
export function readHeader(path: string): Header | undefined {
  const bytes = readFirstBytes(path, headerBytes)
  if (bytes === undefined) return undefined
  const pageBytes = bytes.readUInt16BE(16)
  // A program of long ago counted no pages: the count is that of the change which left this number twice.
  const isCounted = bytes.readUInt32BE(24) === bytes.readUInt32BE(92)
  return {
    hasLog: bytes[18] === 2,
    bytesMin: isCounted ? bytes.readUInt32BE(28) * (pageBytes === 1 ? 65_536 : pageBytes) : 0,
  }
}

/** Whether a file is a write-ahead log with something in it that SQLite might take for part of the database. */
export function isLogWithFrames(path: string): boolean {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size <= logHeaderBytes + frameHeaderBytes) return false
  const bytes = readFirstBytes(path, logHeaderBytes)
  // The last bit says in which order the bytes of its checksums are.
  return bytes !== undefined && (bytes.readUInt32BE(0) & ~1) === logMagic
}

/** Whether a file is a rollback journal that SQLite would play back. One whose change is done has zeros there. */
export function isHotJournal(path: string): boolean {
  return (readFirstBytes(path, 1)?.[0] ?? 0) !== 0
}

function readFirstBytes(path: string, count: number): Buffer | undefined {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined
  const descriptor = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(count)
    return readSync(descriptor, bytes) === count ? bytes : undefined
  } finally {
    closeSync(descriptor)
  }
}
