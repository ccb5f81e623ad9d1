// Opens what a crash left behind and says what is in it.

import { DatabaseSync } from 'node:sqlite'
import { namesOf, withoutId } from '../../src/domain/plant.ts'
import { openTestStore } from '../support/store.ts'
import type { KeptPlant } from './ledger.ts'

export interface Found {
  readonly plants: ReadonlyMap<bigint, KeptPlant>
  readonly tokens: number
  /** `ok` when the file is whole. */
  readonly integrity: string
}

/** Opens a store as a server does, and looks through its file once it is closed again. */
export async function openAsServer(path: string): Promise<Found> {
  const plants = new Map<bigint, KeptPlant>()
  let tokens = 0
  {
    await using store = await openTestStore(path)
    for await (const lot of store.exportPlants())
      for (const { id, json } of lot) plants.set(id, namesOf(withoutId(json)))
    tokens = (await store.listTokens()).length
  }
  const database = new DatabaseSync(path, { readOnly: true })
  const integrity = integrityOf(database)
  database.close()
  return { plants, tokens, integrity }
}

/** Has SQLite alone open a store: faster, for many states of one kind. */
export function openAsSqlite(path: string): Found {
  const database = new DatabaseSync(path)
  try {
    const select = database.prepare('SELECT id, plant FROM plants')
    select.setReadBigInts(true)
    const rows = select.all() as { id: bigint; plant: string }[]
    const plants = rows.map(({ id, plant }): [bigint, KeptPlant] => [id, namesOf(withoutId(plant))])
    const tokens = Number(database.prepare('SELECT count(*) AS tokens FROM tokens').get()?.['tokens'])
    return { plants: new Map(plants), tokens, integrity: integrityOf(database) }
  } finally {
    database.close()
  }
}

function integrityOf(database: DatabaseSync): string {
  return String(database.prepare('PRAGMA integrity_check').get()?.['integrity_check'])
}
