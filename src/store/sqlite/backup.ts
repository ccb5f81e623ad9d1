// Copies of a store as files: taken beside a running server, put back, and judged whole or not.

import { createHash, randomUUID } from 'node:crypto'
import {
  closeSync,
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
import { DatabaseSync } from 'node:sqlite'
import { OperatorError } from '../../domain/errors.ts'
import { foldName } from '../../domain/plant.ts'
import type { CheckReport, FileFacts } from '../engine.ts'
import {
  checkHeader,
  explainOpenFailure,
  makeFile,
  openReadable,
  resultCode,
  sqliteResultCode,
  syncFolder,
} from './database.ts'
import { takeLock } from './lock.ts'
import { isUpToDate } from './migrations.ts'

/**
 * Writes a store as it is at one moment to a file, while servers go on, and reads it back whole.
 *
 * @throws OperatorError when the file is there, cannot be written, or is not whole.
 */
export async function backupSqlite(store: string, file: string, busyMsMax: number): Promise<FileFacts> {
  if (existsSync(file)) throw new OperatorError(`${file} is there already; name another file`)
  const partial = `${file}.${randomUUID()}.partial`
  try {
    copySqlite(store, partial, busyMsMax)
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
 * Puts a backup, or another store, in the place of a store: the new file is made and judged beside the old one and then
 * takes its name in one step.
 *
 * @param force whether a store that is there may be replaced. One that is damaged is kept under another name.
 * @throws OperatorError when the backup is not whole, the store is in use, or there without `force`.
 */
export async function restoreSqlite(
  file: string,
  store: string,
  force: boolean,
  busyMsMax: number,
): Promise<FileFacts> {
  if (!existsSync(file)) throw new OperatorError(`there is no file ${file}`)
  await examine(file, busyMsMax)
  const isThere = existsSync(store) && statSync(store).size > 0
  if (isThere && realpathSync(store) === realpathSync(file)) throw new OperatorError(`${file} is the store itself`)
  if (isThere && !force) throw new OperatorError(`${store} is there already; with --force it is replaced`)
  makeFile(resolve(store))
  const path = realpathSync(store)
  const lock = takeLock(path, 0)
  if (lock === undefined) throw new OperatorError(`${store} is in use by a plantstore server; stop it first`)
  const incoming = `${path}.restoring`
  try {
    rmSync(incoming, { force: true })
    copySqlite(file, incoming, busyMsMax)
    const facts = await examine(incoming, busyMsMax)
    if (isThere) closeOff(path)
    renameSync(incoming, path)
    syncFolder(dirname(path))
    return facts
  } catch (cause) {
    throw explainOpenFailure(cause, store)
  } finally {
    rmSync(incoming, { force: true })
    lock.release()
  }
}

/** Looks through a whole store, beside a server. Gives what is wrong with it, a line each; nothing when it is whole. */
export function checkSqlite(store: string, busyMsMax: number): CheckReport {
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

/** Writes a store as it is at one moment, its log included, to a new file for its owner alone. */
function copySqlite(from: string, to: string, busyMsMax: number): void {
  makeFile(resolve(to))
  const source = openReadable(realpathSync(from), busyMsMax)
  try {
    source.prepare('VACUUM INTO ?').run(to)
  } finally {
    source.close()
  }
  sync(to)
}

/**
 * Sees to it that nobody has a store open, and that nothing of it is left beside its file: a log that stayed would be
 * taken for that of the next file. SQLite leaves the mode of the log only when no other connection is open.
 */
function closeOff(path: string): void {
  try {
    const database = new DatabaseSync(path)
    try {
      database.exec('PRAGMA journal_mode = DELETE')
    } finally {
      database.close()
    }
  } catch (cause) {
    const code = sqliteResultCode(cause)
    if (code === resultCode.busy || code === resultCode.locked) {
      throw new OperatorError(`${path} is in use by another plantstore command; wait for it to end`)
    }
    // Too damaged to be opened: kept as it is, under another name.
    const aside = `${path}.damaged-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
    for (const suffix of ['-wal', '']) if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix)
    rmSync(`${path}-shm`, { force: true })
  }
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
