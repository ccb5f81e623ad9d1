// From the text after --store to an open Store, or to what is done with a store as a whole. The engine's files are imported
// only when its store is asked for.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { OperatorError } from '../domain/errors.ts'
import type { Store } from '../domain/store.ts'
import type { FileLimits, StoreOptions } from './options.ts'
import { describeUrl } from './postgres/address.ts'

export interface FileFacts {
  readonly plants: number
  readonly tokens: number
  /** SHA-256 of the file, in hexadecimal digits. */
  readonly sha256: string
}

export interface Judgement {
  /** What is wrong with the store; empty when it is whole. */
  readonly problems: readonly string[]
  readonly plants: number
}

/**
 * Opens the store at a place, making it when it is missing; a database has to be there.
 *
 * @param place path of an SQLite file, or the URL of a PostgreSQL database.
 * @throws OperatorError with one line that says what stands in the way.
 */
export async function openStore(place: string, options: StoreOptions): Promise<Store> {
  if (isDatabase(place)) return (await import('./postgres/store.ts')).openPostgresStore(place, options)
  return (await import('./sqlite/store.ts')).openSqliteStore(place, options)
}

/** A place as it may be shown: a path from the root, or a URL without its password. */
export function describePlace(place: string): string {
  return isDatabase(place) ? describeUrl(place) : resolve(place)
}

/** False for the path of a file that is not there. */
export function mayBeThere(place: string): boolean {
  return isDatabase(place) || existsSync(place)
}

/** Writes the store at a place to a file, beside a running server. */
export async function backupStore(place: string, file: string, { storeBusyMsMax }: FileLimits): Promise<FileFacts> {
  if (isDatabase(place)) {
    throw new OperatorError(
      `PostgreSQL's own tools make backups of ${describePlace(place)}: pg_dump --format=custom --file=${quote(file)} ${quote(describePlace(place))}`,
    )
  }
  return (await import('./sqlite/backup.ts')).backupSqlite(place, file, storeBusyMsMax)
}

/** Puts a backup in the place of a store that nobody uses; `force` lets it replace one that is there. */
export async function restoreStore(
  file: string,
  place: string,
  force: boolean,
  { storeBusyMsMax }: FileLimits,
): Promise<FileFacts> {
  if (isDatabase(place)) {
    throw new OperatorError(
      `PostgreSQL's own tools restore ${describePlace(place)}, with no server running: pg_restore --clean --if-exists --single-transaction --dbname=${quote(describePlace(place))} ${quote(file)}`,
    )
  }
  return (await import('./sqlite/backup.ts')).restoreSqlite(file, place, force, storeBusyMsMax)
}

/** Looks through the whole store at a place. */
export async function checkStore(place: string, options: StoreOptions): Promise<Judgement> {
  if (isDatabase(place)) return (await import('./postgres/check.ts')).checkPostgres(place, options)
  return (await import('./sqlite/backup.ts')).checkSqlite(place, options.limits.storeBusyMsMax)
}

/** For a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function isDatabase(place: string): boolean {
  return /^postgres(ql)?:\/\//i.test(place)
}
