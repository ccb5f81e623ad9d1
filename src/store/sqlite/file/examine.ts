// Reads a whole store: checks it, counts its content, and copies it. Neither changes it nor creates files beside it.

import { createHash } from 'node:crypto'
import { createReadStream, existsSync, fsyncSync, realpathSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { messageOf, OperatorError, SettingError } from '../../../domain/errors.ts'
import { isPlantOf, nameHeadOf, namesOf } from '../../../domain/plant.ts'
import type { FileFacts } from '../../engine.ts'
import { withFile } from '../../files.ts'
import { statThere } from '../../paths.ts'
import { explainOpenFailure, hasFailed, isNoDatabase, openReadable, prepareAll } from './database.ts'
import { assertSound, findPlainDamage, isDatabase, isHotJournal } from './header.ts'
import { findSchemaDamage, readValue, tableVersion } from './migrations.ts'
import { findBeside } from './names.ts'

/** The file changed while it was read without a lock. */
export class ChangedError extends OperatorError {}

const problemsMax = 10

/**
 * Returns facts about an intact store; throws OperatorError for any other file.
 *
 * @param name the path in messages: the file, or its original if it is a copy.
 */
export async function examine(file: string, busyMsMax: number, name = file): Promise<FileFacts> {
  try {
    const counts = readUntouched(file, busyMsMax, (database) => {
      assertSound(name, problemsOf(database, name)[0])
      return { plants: count(database, 'plants'), tokens: count(database, `records WHERE kind = 'token'`) }
    })
    return { ...counts, sha256: await sha256Of(file) }
  } catch (cause) {
    throw explainOpenFailure(cause, name, 'read')
  }
}

/** The problems of a store, one line each; empty if it is intact. */
export function problemsOf(database: DatabaseSync, file: string): string[] {
  if (tableVersion(database, file) === 0) throw new OperatorError(`${file} is an empty database, not a store`)
  const missing = findSchemaDamage(database, file)
  if (missing !== undefined) return [missing]
  const integrity = database
    .prepare('PRAGMA integrity_check')
    .all()
    .map((row) => String(row['integrity_check']))
  if (integrity[0] !== 'ok') return integrity
  const broken = readValue(database, 'SELECT 1 FROM plants WHERE NOT json_valid(plant) LIMIT 1')
  if (broken !== undefined) return ['it has a plant that is not JSON']
  const miscounted = readValue(
    database,
    `WITH counted AS (SELECT '' AS of, count(*) AS plants FROM plants HAVING count(*) > 0 UNION ALL
          SELECT '#' || (plant ->> '$.tag') AS of, count(*) FROM plants WHERE plant ->> '$.tag' IS NOT NULL GROUP BY of),
        kept AS (SELECT of, plants FROM plant_counts WHERE plants <> 0 OR of <> '')
        SELECT 1 FROM (SELECT * FROM counted EXCEPT SELECT * FROM kept) UNION ALL
          SELECT 1 FROM (SELECT * FROM kept EXCEPT SELECT * FROM counted) LIMIT 1`,
  )
  if (miscounted !== undefined) return ['its counts of plants do not match its plants']
  const misplaced = misplacedIn(database)
  if (misplaced.length > 0 || count(database, 'names') === count(database, 'plants')) return misplaced
  return ['its index of names does not match its plants']
}

/** Checks row by row, because a function called from SQL keeps memory for each call until the statement ends. */
function misplacedIn(database: DatabaseSync): string[] {
  const found: string[] = []
  const { plants, named } = prepareAll(database, {
    plants: 'SELECT id, plant FROM plants',
    named: 'SELECT 1 FROM names WHERE head = ? AND id = ?',
  })
  for (const row of plants.iterate()) {
    const [id, json] = row as unknown as readonly [bigint, string]
    const isNamed = (): boolean => named.get(nameHeadOf(namesOf(json)), id) !== undefined
    if (!isPlantOf(id, json)) found.push(`plant ${id} has another id, or no name, in its JSON`)
    else if (!isNamed()) found.push(`plant ${id} cannot be found by its name`)
    if (found.length >= problemsMax) break
  }
  return found
}

export function count(database: DatabaseSync, from: 'plants' | 'names' | `records WHERE kind = 'token'`): number {
  return Number(readValue(database, `SELECT count(*) FROM ${from}`))
}

/**
 * Checks all pages, at some hundred megabytes per second. Returns the first damage in one line; an empty text if there
 * is none, or the check could not run.
 *
 * @param open returns a connection. An error that it throws counts as a result of the check.
 */
export function findPageDamage(open: () => DatabaseSync): string {
  try {
    const problem = String(readValue(open(), 'PRAGMA quick_check(1)'))
    return problem === 'ok' ? '' : problem.replaceAll(/\s*\n\s*/g, ' ')
  } catch (error) {
    // Other failures, such as a missing file, do not prove damage.
    return hasFailed(error, 'corrupt', 'notADatabase') ? messageOf(error) : ''
  }
}

/** Writes a snapshot of a store, including its log, to a new file accessible only to its owner, and syncs it. */
export function copyDatabase(source: DatabaseSync, to: string): void {
  withFile(to, 'wx', () => {})
  // Sync once at the end instead of at every step, because nothing reads the file before.
  source.exec('PRAGMA synchronous = OFF')
  source.prepare('VACUUM INTO ?').run(to)
  withFile(to, 'r+', fsyncSync)
}

/**
 * Throws OperatorError if SQLite should not open a file: it would delete the log beside an empty one, and apply the log
 * of another store.
 */
export function assertReadable(path: string): void {
  if (statSync(path).size === 0) {
    const left = findBeside(path).find((name) => statThere(name)?.size)
    const isLeft = left === undefined ? '' : `; ${left} beside it belongs to an earlier one`
    throw new OperatorError(`${path} is an empty file, not a store${isLeft}`)
  }
  // Undoing an interrupted change needs write access.
  if (isHotJournal(`${path}-journal`)) {
    throw new OperatorError(
      `${path}-journal shows that a change to ${path} was interrupted; to undo the change, open the file with the program that was changing it`,
    )
  }
  // SQLite would treat a short one as empty.
  if (!isDatabase(path)) throw new SettingError(`${path} ${isNoDatabase}`)
  assertSound(path, findPlainDamage(path))
}

/**
 * Reads a database without creating a log or an index beside it, which SQLite otherwise does even for reads.
 *
 * If both exist, a server may be using them, and the database is read beside it. SQLite then updates the index, which
 * is not part of the store. Otherwise no process has the database open, and it is read without locks: the file alone, or
 * with the log that a crashed server left, whose index is kept in memory.
 *
 * @throws OperatorError if there is no database, or another process changed it meanwhile.
 */
export function readUntouched<T>(file: string, busyMsMax: number, read: (database: DatabaseSync) => T): T {
  const path = realpathSync(file)
  assertReadable(path)
  const before = stateOf(path)
  const database = before === 'shared' ? openReadable(path, busyMsMax) : openAlone(path)
  try {
    const result = read(database)
    if (before === 'shared' || before === stateOf(path)) return result
  } catch (cause) {
    // The last program to close the database deletes the log and its index.
    if (before === stateOf(path)) throw cause
  } finally {
    database.close()
  }
  throw new ChangedError(`${file} changed while it was being read; try again`)
}

function openAlone(path: string): DatabaseSync {
  const url = pathToFileURL(path)
  if (!existsSync(`${path}-wal`)) {
    url.searchParams.set('immutable', '1')
    return new DatabaseSync(url, { readOnly: true })
  }
  // In exclusive mode, the index of the log is in memory. Without locks, this works for a read-only file, too.
  url.searchParams.set('vfs', 'unix-none')
  const database = new DatabaseSync(url, { readOnly: true })
  database.exec('PRAGMA locking_mode = EXCLUSIVE')
  return database
}

/** `shared` if servers may be using a database; else a fingerprint that changes whenever the file or its log does. */
function stateOf(path: string): string {
  if (existsSync(`${path}-wal`) && existsSync(`${path}-shm`)) return 'shared'
  return ['', '-wal']
    .map((suffix) => statSync(path + suffix, { bigint: true, throwIfNoEntry: false }))
    .map((facts) => `${facts?.ino} ${facts?.size} ${facts?.mtimeNs}`)
    .join(', ')
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(file)) hash.update(piece)
  return hash.digest('hex')
}
