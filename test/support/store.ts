// Opens a store in the test's own process, as a server would unless the test says otherwise.

import { copyFile, open } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import type { Properties } from '../../src/contract/plant.ts'
import { allScopes, type Scope } from '../../src/domain/caller.ts'
import { systemClock } from '../../src/domain/clock.ts'
import { namesOf, type PlantNames, withoutId } from '../../src/domain/plant.ts'
import type { ImportOutcome, OnConflict, Store } from '../../src/domain/store.ts'
import { type Limits, limits } from '../../src/limits.ts'
import { createToken } from '../../src/serve/new-token.ts'
import type { StoreOptions } from '../../src/store/engine.ts'
import { openStore } from '../../src/store/open.ts'
import { exhaustiveOnFolder, type Folder, makeFolder, onFolder } from './folder.ts'
import { toPlant } from './plants.ts'

/** How long a test's own connection waits. */
export const busyMsMax = limits.storeBusyMsMax

/** Each connection to PostgreSQL is a process of the database. */
export const testLimits: Limits = { ...limits, databaseReaders: 1 }

export function openTestStore(
  place: string,
  changed: Partial<Omit<StoreOptions, 'limits'>> & { readonly limits?: Partial<Limits> } = {},
): Promise<Store> {
  return openStore(place, {
    exclusive: true,
    mayMake: true,
    clock: systemClock,
    environment: {},
    observe: () => {},
    ...changed,
    limits: { ...testLimits, ...changed.limits },
  })
}

type OnPath = (title: string, run: (path: string, folder: Folder) => Promise<void>) => void

/** Tests with the path of a store that is not there yet. */
export const onPath: OnPath = (title, run) => onFolder(title, (folder) => run(folder.file('plants.db'), folder))
export const exhaustiveOnPath: OnPath = (title, run) =>
  exhaustiveOnFolder(title, (folder) => run(folder.file('plants.db'), folder))

/** A test of a new store in a file. */
export function onStore(title: string, run: (store: Store, path: string) => Promise<void>): void {
  onPath(title, async (path) => {
    await using store = await openTestStore(path)
    await run(store, path)
  })
}

/** Imports plants in steps as short as those of `plantstore import`: a store limits the time of each. */
export async function importPlants(
  store: Store,
  plants: readonly Properties[],
  onConflict: OnConflict = 'fail',
  isWhole = false,
): Promise<readonly ImportOutcome[]> {
  const outcomes: ImportOutcome[] = []
  const bulk = await store.beginImport({ isWhole })
  for (let from = 0; from < plants.length; from += 1_000) {
    outcomes.push(...(await bulk.add(plants.slice(from, from + 1_000).map(toPlant), onConflict)))
  }
  await bulk.commit()
  await bulk.end()
  return outcomes
}

/** Makes a store of plants that are named after their ids, and closes it. */
export async function makeStore(path: string, count: number): Promise<void> {
  await using store = await openTestStore(path)
  const plants = Array.from({ length: count }, (_, id) => ({ id: BigInt(id), name: `plant ${id}` }))
  await importPlants(store, plants)
}

/** Leaves what a dead server leaves that has its plants only in its log: the files of a store that is open. */
export async function leaveLog(path: string, count: number, first = 0): Promise<void> {
  await using folder = await makeFolder()
  const open = folder.file('plants.db')
  await using store = await openTestStore(open)
  for (let id = first; id < first + count; id += 1)
    await store.createPlant(toPlant({ id: BigInt(id), name: `plant ${id}` }))
  for (const suffix of ['', '-wal', '-shm', '.lock']) await copyFile(open + suffix, path + suffix)
}

/** Imports plants beside a server. */
export async function importBeside(place: string, plants: readonly Properties[]): Promise<void> {
  await using store = await openTestStore(place, { exclusive: false })
  await importPlants(store, plants)
}

/** Runs statements on a file beside, or instead of, a server. */
export function withDatabase(path: string, sql: string): void {
  using database = new DatabaseSync(path)
  database.exec(sql)
}

/** Overwrites the first page of a table of a store that nobody has open. */
export async function damageTable(store: string, table: string): Promise<void> {
  const database = new DatabaseSync(store)
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  const { rootpage } = database.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table) ?? {}
  database.close()
  await using file = await open(store, 'r+')
  await file.write(Buffer.alloc(4_096, 0xff), 0, 4_096, (Number(rootpage) - 1) * 4_096)
}

/** The properties of a plant without its id. Rejects where an engine that reads at once throws. */
export async function readPlant(store: Pick<Store, 'getPlant'>, id: bigint): Promise<PlantNames | undefined> {
  const found = await store.getPlant(id)
  return found && namesOf(withoutId(found.json))
}

export async function addToken(place: string, name: string, scopes: readonly Scope[] = allScopes) {
  await using store = await openTestStore(place, { exclusive: false })
  return await createToken(store, { name, scopes })
}

export async function revokeToken(place: string, id: string): Promise<void> {
  await using store = await openTestStore(place, { exclusive: false })
  await store.revokeToken(id, systemClock.wallMs())
}
