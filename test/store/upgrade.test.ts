// The mechanism that upgrades stores, with a step of its own: there is only one version of the tables so far.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { systemClock } from '../../src/domain/clock.ts'
import { limits } from '../../src/limits.ts'
import { locate } from '../../src/store/postgres/connections/address.ts'
import { openForBulk } from '../../src/store/postgres/connections/connection.ts'
import { migrate as migrateDatabase, migrations } from '../../src/store/postgres/connections/tables.ts'
import { migrations as fileMigrations, migrate as migrateFile } from '../../src/store/sqlite/file/migrations.ts'
import { CuttingProxy } from '../fleet/proxy.ts'
import { toPlant } from '../support/plants.ts'
import { startDatabase, testsOf } from '../support/postgres.ts'
import { onPath, openTestStore } from '../support/store.ts'
import { assertPrompt, until } from '../support/time.ts'
import { rejectsWith } from './suite.ts'

describe('a file of an older version', () => {
  /** What a newer program would do. */
  const steps = [...fileMigrations, 'ALTER TABLE records ADD COLUMN note TEXT']
  const versionOf = (database: DatabaseSync): unknown => database.prepare('PRAGMA user_version').get()?.['user_version']

  onPath('is upgraded once by several that open it at once, and refused by older programs', async (path) => {
    await (await openTestStore(path)).close()
    for (let time = 0; time < 2; time += 1) {
      using database = new DatabaseSync(path)
      migrateFile(database, path, steps)
      assert.equal(versionOf(database), 2)
    }
    const why = /written by a newer plantstore \(its tables have version 2; this program knows versions up to 1\)/
    await assert.rejects(openTestStore(path), why)
  })

  onPath('stays as it is when a step fails', async (path) => {
    await (await openTestStore(path)).close()
    using database = new DatabaseSync(path)
    assert.throws(() => migrateFile(database, path, [...steps, 'ALTER TABLE none ADD COLUMN x TEXT']))
    assert.equal(versionOf(database), 1)
    database.close()
    await using store = await openTestStore(path)
    assert.equal(await store.createPlant(toPlant({ id: 1n, name: 'n' })), 'created')
  })
})

describe('a database of an older version', async () => {
  const database = await startDatabase()
  after(() => database[Symbol.asyncDispose]())
  const { onSchema, onStore } = testsOf(database)
  /** What a newer program would do. */
  const steps = [...migrations, { oldestVersion: 2, statements: ['ALTER TABLE records ADD COLUMN note text'] }]
  const upgrade = async (place: string, run = steps): Promise<void> => {
    const options = { exclusive: false, mayMake: false, clock: systemClock, limits, environment: {}, observe: () => {} }
    const opened = locate(place, options)
    const connection = await openForBulk(opened)
    try {
      await migrateDatabase(connection, opened, run)
    } finally {
      await connection.close()
    }
  }
  const versions = async (client: { query(text: string): Promise<{ readonly rows: readonly unknown[] }> }) =>
    (await client.query('SELECT version::int4, oldest_version::int4 FROM plantstore_schema')).rows

  onSchema('is upgraded by the first of several servers; older ones do nothing any more', async ({ place, client }) => {
    await using old = await openTestStore(place)
    await old.createPlant(toPlant({ id: 1n, name: 'n' }))
    await Promise.all(Array.from({ length: 5 }, () => upgrade(place)))
    assert.deepEqual(await versions(client), [{ version: 2, oldest_version: 2 }])
    await rejectsWith(old.createPlant(toPlant({ id: 2n, name: 'n' })), 'storeUnavailable')
    assert.match(String(old.failed.reason), /newer plantstore/)
    await assert.rejects(openTestStore(place), /newer plantstore \(its tables have version 2/)
    assert.deepEqual((await client.query('SELECT id FROM plants')).rows, [{ id: '1' }])
    assert.equal((await client.query('SELECT note FROM records')).rows.length, 0)
  })

  onSchema('is upgraded after pending transactions of older servers; later ones fail', async ({ place, client }) => {
    await using old = await openTestStore(place)
    const [early, late] = [await old.beginImport({ isWhole: true }), await old.beginImport({ isWhole: true })]
    await early.add([toPlant({ id: 1n, name: 'n' })], 'fail')
    const upgrading = upgrade(place)
    await until('the upgrade waits', async () => {
      const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'LOCK TABLE changes%'`
      return (await client.query(waiting)).rows.length > 0
    })
    await early.commit()
    await upgrading
    await rejectsWith(late.add([toPlant({ id: 2n, name: 'n' })], 'fail'), 'overloaded')
    await Promise.all([early.end(), late.end()])
    assert.deepEqual((await client.query('SELECT id FROM plants')).rows, [{ id: '1' }])
  })

  onSchema('that somebody reads for long is upgraded when that ends; others read on', async ({ place, client }) => {
    await using old = await openTestStore(place)
    // As pg_dump does.
    await client.query('BEGIN; LOCK TABLE records IN ACCESS SHARE MODE')
    let isDone = false
    const upgrading = upgrade(place).then(() => {
      isDone = true
    })
    for (let count = 0; count < 10; count += 1) {
      const started = performance.now()
      await old.listTokens()
      assertPrompt(started, limits.databaseReadMsMax)
    }
    assert.equal(isDone, false)
    await client.query('COMMIT')
    await upgrading
    assert.deepEqual(await versions(client), [{ version: 2, oldest_version: 2 }])
  })

  onSchema('is upgraded where it is, although another schema comes first', async ({ place, client }) => {
    await using _store = await openTestStore(place)
    const front = `front_${randomUUID().replaceAll('-', '')}`
    await client.query(`CREATE SCHEMA ${front}`)
    await upgrade(place.replace('search_path%3D', `search_path%3D${front},`))
    assert.deepEqual(await versions(client), [{ version: 2, oldest_version: 2 }])
  })

  test('a server that freezes while it makes the tables loses its turn', async () => {
    const url = new URL(await database.makePlace())
    const direct = url.href
    await using proxy = await CuttingProxy.start(Number(url.port))
    url.port = String(proxy.port)
    proxy.silenceNext('silentCommit', 'CREATE TABLE plants')
    const opening = openTestStore(url.href, { limits: { databaseIdleMsMax: 1_000 } })
    const frozen = assert.rejects(opening, /idle-in-transaction/)
    await until('it is frozen', () => proxy.cuts === 1)
    await using store = await openTestStore(direct)
    assert.equal(await store.createPlant(toPlant({ id: 1n, name: 'n' })), 'created')
    proxy.cutAll()
    await frozen
  })

  onStore('stays as it is when a step fails', async ({ store, place, client }) => {
    await assert.rejects(upgrade(place, [...steps, { oldestVersion: 3, statements: ['ALTER TABLE none ADD x int8'] }]))
    assert.deepEqual(await versions(client), [{ version: 1, oldest_version: 1 }])
    assert.equal(await store.createPlant(toPlant({ id: 1n, name: 'n' })), 'created')
  })
})
