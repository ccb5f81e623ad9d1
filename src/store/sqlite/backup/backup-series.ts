// The backups of a store in a folder, named after the store and their start time. Removes the oldest excess backups,
// but never a file that might not be a backup of this store.

import { lstatSync, readdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { codeOf, messageOf, OperatorError } from '../../../domain/errors.ts'
import type { PruneReport } from '../../engine.ts'
import { syncFolder } from '../../files.ts'
import { explainFileFailure, statThere } from '../../paths.ts'
import { readUntouched } from '../file/examine.ts'
import { readHeader } from '../file/header.ts'
import { readStoreId } from '../file/migrations.ts'
import { findBeside } from '../file/names.ts'

const stampPattern = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/
const suffix = '.db'

/** The name of a backup, such as `plants-2026-11-22T09-15-00-000Z.db`. `store` is a real path. */
export function nameOfBackup(store: string, atMs: number): string {
  return `${seriesOf(store)}${stampOf(atMs)}${suffix}`
}

/** The unique id of a store and its backups. Throws OperatorError if the store has none. */
export function idOfSeries(store: string, busyMsMax: number): string {
  const id = readUntouched(store, busyMsMax, readStoreId)
  if (id !== undefined) return id
  throw new OperatorError(`${store} is no store, so its backups cannot be told apart`)
}

/**
 * Records that a backup is complete: as the mtime of an empty file beside the store, because a backup does not change the
 * store. Returns a warning if that fails.
 */
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

/** The time of the last backup; 0 if there was none. */
export function readBackupMs(store: string): number {
  return statThere(markOf(store))?.mtimeMs ?? 0
}

function markOf(store: string): string {
  return `${store}.backed-up`
}

export interface PruneOptions {
  /** The real path of the store. */
  readonly store: string
  /** The id of the store and its backups. */
  readonly id: string
  readonly folder: string
  /** The name of the new backup. It is kept, as are newer ones of concurrent commands. */
  readonly latest: string
  /** Number of backups to keep, including the latest one; at least 1. */
  readonly keep: number
  readonly nowMs: number
  readonly busyMsMax: number
}

/** Removes the oldest backups of a series, beyond those to keep. */
export function prune(pruning: PruneOptions): PruneReport {
  const { folder, latest, keep, nowMs, store } = pruning
  const report = { removed: [] as string[], doubts: [] as string[], problems: [] as string[] }
  const { removed, doubts, problems } = report
  try {
    const others = findOthers(pruning, doubts)
    const ahead = others.find((name) => String(stampIn(name, store)) > stampOf(nowMs))
    if (ahead !== undefined) {
      problems.push(`nothing was removed: ${join(folder, ahead)} is dated in the future; is the clock right?`)
      return report
    }
    const excess = others.slice(0, Math.max(others.length + 1 - keep, 0)).filter((name) => name < latest)
    for (const name of excess) {
      const path = join(folder, name)
      try {
        unlinkSync(path)
        removed.push(path)
      } catch (cause) {
        const isGone = codeOf(cause) === 'ENOENT'
        if (!isGone) problems.push(`${path} could not be removed: ${messageOf(cause)}`)
      }
    }
    if (removed.length > 0) syncFolder(folder)
  } catch (cause) {
    problems.push(explainFileFailure(cause, folder, 'read').message)
  }
  return report
}

/** The names of the other backups of the series, oldest first. */
function findOthers({ store, id, folder, latest, busyMsMax }: PruneOptions, doubts: string[]): readonly string[] {
  const named = readdirSync(folder).filter((name) => name !== latest && stampIn(name, store) !== undefined)
  return named.sort().filter((name) => {
    const path = join(folder, name)
    try {
      const doubt = doubtOf(path)
      if (doubt === undefined) return readUntouched(path, busyMsMax, readStoreId) === id
      doubts.push(`${path} was left alone: ${doubt}`)
    } catch (cause) {
      doubts.push(`${path} was left alone: ${messageOf(cause)}`)
    }
    return false
  })
}

/**
 * Why a file may not be a backup; undefined if there is no doubt. The header of a store that was ever opened for
 * writing shows WAL mode; that of a backup does not.
 */
function doubtOf(path: string): string | undefined {
  if (!lstatSync(path).isFile()) return 'it is not a regular file'
  const [beside] = findBeside(path)
  if (beside !== undefined) return `it may be in use, as ${beside} exists`
  return readHeader(path)?.hasLog === false ? undefined : 'it is not a backup'
}

/** The common prefix of the names of backups. */
function seriesOf(store: string): string {
  const name = basename(store)
  return `${name.slice(0, name.length - extname(name).length)}-`
}

function stampOf(ms: number): string {
  return new Date(ms).toISOString().replaceAll(/[:.]/g, '-')
}

/** The timestamp in the name of a backup; undefined for any other name. */
function stampIn(name: string, store: string): string | undefined {
  const series = seriesOf(store)
  if (!name.startsWith(series) || !name.endsWith(suffix)) return undefined
  const stamp = name.slice(series.length, name.length - suffix.length)
  const iso = stamp.replace(/T(\d\d)-(\d\d)-(\d\d)-(\d{3}Z)$/, 'T$1:$2:$3.$4')
  return stampPattern.test(stamp) && !Number.isNaN(Date.parse(iso)) ? stamp : undefined
}
