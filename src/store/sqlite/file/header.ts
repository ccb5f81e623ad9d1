// Reads the headers of an SQLite database, its write-ahead log and its journal (sqlite.org/fileformat2.html), and finds
// the damage that they show, without SQLite, which might change the files.

import { readSync, statSync } from 'node:fs'
import { codeOf, OperatorError } from '../../../domain/errors.ts'
import { withFile } from '../../files.ts'

interface Header {
  /** Whether the database is in WAL mode. If not, a log beside it belongs to another database. */
  readonly hasLog: boolean
  /** Minimum size of the file according to its header; 0 if unknown. */
  readonly bytesMin: number
}

const magic = Buffer.from('SQLite format 3\0')
const headerBytes = 100
const logHeaderBytes = 32
const frameHeaderBytes = 24
const logMagic = 0x377f0682

/** Whether a file begins like a nonempty database. */
export function isDatabase(path: string): boolean {
  return readFirstBytes(path, magic.length)?.equals(magic) === true
}

/** Reads the header of a database; undefined if the file is missing or too short. */
export function readHeader(path: string): Header | undefined {
  const bytes = readFirstBytes(path, headerBytes)
  if (bytes === undefined) return undefined
  const pageBytes = bytes.readUInt16BE(16)
  // SQLite before 3.7.0 did not maintain the page count. It is valid only if these two counters are equal.
  const isCounted = bytes.readUInt32BE(24) === bytes.readUInt32BE(92)
  return {
    hasLog: bytes[18] === 2,
    bytesMin: isCounted ? bytes.readUInt32BE(28) * (pageBytes === 1 ? 65_536 : pageBytes) : 0,
  }
}

/** Whether a file is a write-ahead log with frames that SQLite might apply to the database. */
export function isLogWithFrames(path: string): boolean {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size <= logHeaderBytes + frameHeaderBytes) return false
  const bytes = readFirstBytes(path, logHeaderBytes)
  // The last bit is the byte order of the checksums.
  return bytes !== undefined && (bytes.readUInt32BE(0) & ~1) === logMagic
}

/** Whether a file is a rollback journal that SQLite would play back. A finalized journal begins with zeros. */
export function isHotJournal(path: string): boolean {
  return (readFirstBytes(path, 1)?.[0] ?? 0) !== 0
}

/**
 * Detects a truncated file, or the log of another store beside it, from the headers. Returns undefined if there is no
 * damage, or if the file is missing or empty.
 */
export function findPlainDamage(path: string): string | undefined {
  // Another process may copy its log into the file, and then delete the log, between two of these reads. Damage stays.
  return looksDamaged(path) && looksDamaged(path)
}

function looksDamaged(path: string): string | undefined {
  const log = `${path}-wal`
  // In this order: what a log has is in the file when the log is gone, and a file only grows.
  const hasFrames = isLogWithFrames(log)
  const header = readHeader(path)
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) return undefined
  // SQLite would treat a truncated header as a new database.
  if (header === undefined) return `it was cut short to ${size} bytes`
  // The log may contain the missing pages: an interrupted checkpoint may have written the header first.
  if (hasFrames) return header.hasLog ? undefined : `${log} beside it belongs to another store; move it away`
  return size < header.bytesMin ? `it was cut short to ${size} of ${header.bytesMin} bytes` : undefined
}

export class DamageError extends OperatorError {
  readonly damage: string

  constructor(path: string, damage: string) {
    super(`${path} is damaged: ${damage}`)
    this.damage = damage
  }
}

/** Throws DamageError if there is damage. */
export function assertSound(path: string, damage: string | undefined): void {
  if (damage !== undefined) throw new DamageError(path, damage)
}

function readFirstBytes(path: string, count: number): Buffer | undefined {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined
  try {
    return withFile(path, 'r', (descriptor) => {
      const bytes = Buffer.alloc(count)
      return readSync(descriptor, bytes) === count ? bytes : undefined
    })
  } catch (cause) {
    // The file was deleted meanwhile, as an exiting program deletes the log.
    if (codeOf(cause) === 'ENOENT') return undefined
    throw cause
  }
}
