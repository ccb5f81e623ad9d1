// Copies of a store as files: taken beside a running server, put back, and judged whole or not.

import { createHash } from 'node:crypto'
import {
  closeSync,
  copyFileSync,
  createReadStream,
  existsSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { OperatorError } from '../../domain/errors.ts'
import { foldName } from '../../domain/plant.ts'
import { checkHeader, explainOpenFailure, makeFile, openReadable, syncFolder } from './database.ts'
import { takeLock } from './lock.ts'
import { isUpToDate } from './migrations.ts'

export interface FileFacts {
  readonly plants: number
  readonly tokens: number
  /** SHA-256 of the file, in hexadecimal digits. */
  readonly sha256: string
}

/**
 * Writes a store as it is at one moment to a file, while servers go on, and reads it back whole.
 *
 * @throws OperatorError when the file is there, cannot be written, or is not whole.
 */
export async function backupSqlite(store: string, file: string, busyMsMax: number): Promise<FileFacts> {
  if (existsSync(file)) throw new OperatorError(`${file} is there already; name another file`)
  const partial = `${file}.partial`
  rmSync(partial, { force: true })
  try {
    // Made first, so that it is for its owner alone.
    makeFile(resolve(partial))
    const source = openReadable(realpathSync(store), busyMsMax)
    try {
      source.prepare('VACUUM INTO ?').run(partial)
    } finally {
      source.close()
    }
    sync(partial)
    const facts = await examine(partial, busyMsMax)
    renameSync(partial, file)
    syncFolder(dirname(resolve(file)))
    return facts
  } catch (cause) {
    rmSync(partial, { force: true })
    throw explainOpenFailure(cause, file)
  }
}

/**
 * Puts a backup in the place of a store. What was there is kept until the new one is whole.
 *
 * @param force whether a store that is there may be replaced.
 * @throws OperatorError when the backup is not whole, the store is in use, or there without `force`.
 */
export async function restoreSqlite(
  file: string,
  store: string,
  force: boolean,
  busyMsMax: number,
): Promise<FileFacts> {
  if (!existsSync(file)) throw new OperatorError(`there is no file ${file}`)
  const facts = await examine(file, busyMsMax)
  const isThere = existsSync(store) && statSync(store).size > 0
  if (isThere && !force) throw new OperatorError(`${store} is there already; with --force it is replaced`)
  makeFile(resolve(store))
  const path = realpathSync(store)
  const lock = takeLock(path, 0)
  if (lock === undefined) throw new OperatorError(`${store} is in use by a plantstore server; stop it first`)
  try {
    const incoming = `${path}.restoring`
    copyFileSync(file, incoming)
    sync(incoming)
    if ((await sha256Of(incoming)) !== facts.sha256)
      throw new OperatorError(`${incoming} is not what was read from ${file}`)
    putAside(path)
    renameSync(incoming, path)
    syncFolder(dirname(path))
    await examine(path, busyMsMax)
    for (const suffix of ['', '-wal']) rmSync(`${path}.replaced${suffix}`, { force: true })
    return facts
  } finally {
    lock.release()
  }
}

/** Looks through a whole store, beside a server. Gives what is wrong with it, a line each; nothing when it is whole. */
export function checkSqlite(
  store: string,
  busyMsMax: number,
): { readonly problems: readonly string[]; readonly plants: number } {
  try {
    const database = openReadable(realpathSync(store), busyMsMax)
    try {
      return { problems: problemsOf(database, store), plants: count(database, 'plants') }
    } finally {
      database.close()
    }
  } catch (cause) {
    throw explainOpenFailure(cause, store)
  }
}

/** Throws OperatorError when a file is no whole store; gives what is in it. */
async function examine(file: string, busyMsMax: number): Promise<FileFacts> {
  try {
    checkHeader(file)
    const database = openReadable(file, busyMsMax)
    try {
      if (!isUpToDate(database, file)) {
        throw new OperatorError(
          `${file} was written by an older plantstore; restore it with that one and start the newer one on it`,
        )
      }
      const [problem] = problemsOf(database, file)
      if (problem !== undefined) throw new OperatorError(`${file} is not whole: ${problem}`)
      return { plants: count(database, 'plants'), tokens: count(database, 'tokens'), sha256: await sha256Of(file) }
    } finally {
      database.close()
    }
  } catch (cause) {
    throw explainOpenFailure(cause, file)
  }
}

function problemsOf(database: DatabaseSync, file: string): string[] {
  isUpToDate(database, file)
  const integrity = database
    .prepare('PRAGMA integrity_check')
    .all()
    .map((row) => String(row['integrity_check']))
  if (integrity[0] !== 'ok') return integrity
  database.function('fold_name', { deterministic: true }, (name) => foldName(String(name)))
  const misfolded = database
    .prepare('SELECT CAST(id AS TEXT) AS id FROM plants WHERE name_folded <> fold_name(name) LIMIT 10')
    .all()
  return misfolded.map(({ id }) => `plant ${id} is not found by its name`)
}

function count(database: DatabaseSync, table: 'plants' | 'tokens'): number {
  return Number(database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.['rows'])
}

/** Moves a store's files out of the way, its log with it: a log that stayed would be taken for that of the next file. */
function putAside(path: string): void {
  renameSync(path, `${path}.replaced`)
  if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${path}.replaced-wal`)
  rmSync(`${path}-shm`, { force: true })
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(file)) hash.update(piece)
  return hash.digest('hex')
}

function sync(file: string): void {
  const descriptor = openSync(file, 'r+')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
