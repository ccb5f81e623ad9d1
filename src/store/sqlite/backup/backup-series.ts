// The backups of a store in a folder: named after the store and the moment they were begun, and the oldest removed when
// there are more than are wanted. Nothing is removed that is not such a backup beyond doubt.

import { lstatSync, readdirSync, unlinkSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { codeOf, messageOf, OperatorError } from '../../../domain/errors.ts'
import type { PruneReport } from '../../engine.ts'
import { syncFolder } from '../../files.ts'
import { explainFileFailure } from '../../paths.ts'
import { findBeside } from '../file/beside.ts'
import { readUntouched } from '../file/examine.ts'
import { readHeader } from '../file/header.ts'
import { readStoreId } from '../file/migrations.ts'

const stampPattern = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/
const suffix = '.db'

/** The name of a backup of a store, by its real path, such as `plants-2026-11-22T09-15-00-000Z.db`. */
export function nameOfBackup(store: string, atMs: number): string {
  return `${seriesOf(store)}${stampOf(atMs)}${suffix}`
}

/** What tells the backups of a store from those of others. Throws OperatorError when there is no such thing. */
export function idOfSeries(store: string, busyMsMax: number): string {
  const id = readUntouched(store, busyMsMax, readStoreId)
  if (id !== undefined) return id
  throw new OperatorError(
    `${store} was written by an older plantstore, whose backups cannot be told apart; start a server of this version on it once`,
  )
}

export interface PruneOptions {
  /** By its real path. */
  readonly store: string
  /** What tells its backups from those of others. */
  readonly id: string
  readonly folder: string
  /** The name of the backup that has just been made. It stays, and so do newer ones, as of a command beside this one. */
  readonly latest: string
  /** Backups that stay, the latest one included; 1 or more. */
  readonly keep: number
  readonly nowMs: number
  readonly busyMsMax: number
}

/** Removes the oldest backups of a series, beyond those that stay. */
export function prune(pruning: PruneOptions): PruneReport {
  const { folder, latest, keep, nowMs, store } = pruning
  const report = { removed: [] as string[], doubts: [] as string[], problems: [] as string[] }
  const { removed, doubts, problems } = report
  try {
    const others = findOthers(pruning, doubts)
    const ahead = others.find((name) => String(stampIn(name, store)) > stampOf(nowMs))
    if (ahead !== undefined) {
      problems.push(`nothing was removed: ${join(folder, ahead)} is of a later time than now; is the clock right?`)
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
 * Why a file may be something else than a backup; undefined when there is no doubt. Of a store that was ever opened for
 * writing the header says so: it has a log.
 */
function doubtOf(path: string): string | undefined {
  if (!lstatSync(path).isFile()) return 'it is not a regular file'
  const [beside] = findBeside(path)
  if (beside !== undefined) return `${beside} lies beside it, so that it may be in use`
  return readHeader(path)?.hasLog === false ? undefined : 'it is not a backup'
}

/** What the names of the backups of a store begin with, by its real path. */
function seriesOf(store: string): string {
  const name = basename(store)
  return `${name.slice(0, name.length - extname(name).length)}-`
}

function stampOf(ms: number): string {
  return new Date(ms).toISOString().replaceAll(/[:.]/g, '-')
}

/** The moment in the name of a backup of a store; undefined for any other name. */
function stampIn(name: string, store: string): string | undefined {
  const series = seriesOf(store)
  if (!name.startsWith(series) || !name.endsWith(suffix)) return undefined
  const stamp = name.slice(series.length, name.length - suffix.length)
  const iso = stamp.replace(/T(\d\d)-(\d\d)-(\d\d)-(\d{3}Z)$/, 'T$1:$2:$3.$4')
  return stampPattern.test(stamp) && !Number.isNaN(Date.parse(iso)) ? stamp : undefined
}
