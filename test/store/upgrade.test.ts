// Stores of earlier versions: served, backed up, restored and checked by this one.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { systemClock } from '../../src/domain/clock.ts'
import { hashSecret, mintSecret } from '../../src/domain/token.ts'
import { limits } from '../../src/limits.ts'
import { openForBulk } from '../../src/store/postgres/connections/bulk.ts'
import { locate } from '../../src/store/postgres/connections/session-options.ts'
import { migrate as migrateDatabase, migrations } from '../../src/store/postgres/migrations.ts'
import { migrate } from '../../src/store/sqlite/file/migrations.ts'
import { makeFolder } from '../support/folder.ts'
import { startDatabase, withSchema } from '../support/postgres.ts'
import { runHere, startServer } from '../support/program.ts'
import { openTestStore } from '../support/store.ts'
import { assertPrompt, until } from '../support/time.ts'
import { rejectsWith } from './suite.ts'

const secret = mintSecret(randomBytes(32))

/** A store as the program of the first version left it. */
function makeFirst(path: string): void {
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL')
  migrate(database, path, 1)
  database.exec(`INSERT INTO plants VALUES (1, 'fig', 'ficus', 'Ficus');
    INSERT INTO plant_counts VALUES ('', 1), ('#fig', 1)`)
  database
    .prepare('INSERT INTO tokens VALUES (?, ?, ?, ?, ?, NULL, NULL)')
    .run('tok_old', hashSecret(secret), 'old', 'plants:read plants:write', 1n)
  database.close()
}

const versionOf = (path: string): unknown => {
  using database = new DatabaseSync(path, { readOnly: true })
  return database.prepare('PRAGMA user_version').get()?.['user_version']
}

const plants = (url: string): Promise<string> =>
  fetch(`${url}/plants`, { headers: { Authorization: `Bearer ${secret}` } }).then((response) => response.text())

const shown = '[{"id":1,"name":"Ficus","tag":"fig"}]'

describe('a file of version 1', () => {
  test('is served, with its plants and tokens, and is of the newest version then', async () => {
    await using folder = await makeFolder()
    const path = folder.file('plants.db')
    makeFirst(path)
    await using server = await startServer(path, { limits: { tokenUsesMs: 1 } })
    assert.equal(await plants(server.url), shown)
    assert.equal(versionOf(path), 4)
    const list = async () => JSON.parse((await runHere(['token', 'list', '--json', '--store', path])).stdout)
    await until('the use of its token is noted', async () => (await list())[0].lastUsed !== null)
    assert.equal((await runHere(['token', 'rotate', 'tok_old', '--store', path])).status, 0)
    assert.equal((await list()).length, 2)
  })

  test('is checked, backed up and restored as it is, and an old backup can be served', async () => {
    await using folder = await makeFolder()
    const [path, backup, restored] = [folder.file('plants.db'), folder.file('b.db'), folder.file('restored.db')]
    makeFirst(path)
    assert.match((await runHere(['check', '--store', path])).stdout, /^no damage was found in .*; it has 1 plant\n$/)
    const done = await runHere(['backup', backup, '--store', path])
    assert.equal(done.status, 0, done.stderr)
    assert.deepEqual([versionOf(path), versionOf(backup)], [1, 1])
    const put = await runHere(['restore', backup, '--store', restored])
    assert.equal(put.status, 0, put.stderr)
    await using server = await startServer(restored)
    assert.equal(await plants(server.url), shown)
    assert.equal(versionOf(restored), 4)
  })

  test('takes an import and an export', async () => {
    await using folder = await makeFolder()
    const path = folder.file('plants.db')
    makeFirst(path)
    const { status, stderr } = await runHere(['import', 'examples/houseplants.ndjson', '--store', path])
    assert.equal(status, 0, stderr)
    assert.equal((await runHere(['export', '--store', path])).status, 0)
    assert.equal((await runHere(['check', '--store', path])).status, 0)
  })

  test('that lacks a table of its version is damaged', async () => {
    await using folder = await makeFolder()
    const path = folder.file('plants.db')
    makeFirst(path)
    using database = new DatabaseSync(path)
    database.exec('DROP INDEX idempotency_keys_by_age')
    database.close()
    const { stderr } = await runHere(['check', '--store', path])
    assert.match(stderr, /^its index idempotency_keys_by_age is missing$/m)
  })
})

describe('a database of an older version', async () => {
  const database = await startDatabase()
  after(() => database[Symbol.asyncDispose]())
  /** What a newer program would do. */
  const steps = [...migrations, { oldestVersion: 2, statements: ['ALTER TABLE tokens ADD COLUMN note text'] }]
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

  test('is upgraded by the first of several servers that start at once; older ones commit nothing more', () =>
    withSchema(database, async (place, client) => {
      await using old = await openTestStore(place)
      await old.createPlant({ id: 1n, name: 'n' })
      await Promise.all(Array.from({ length: 5 }, () => upgrade(place)))
      assert.deepEqual(await versions(client), [{ version: 2, oldest_version: 2 }])
      await rejectsWith(old.createPlant({ id: 2n, name: 'n' }), 'storeUnavailable')
      assert.equal((await client.query('SELECT note FROM tokens')).rows.length, 0)
    }))

  test('that somebody reads for long is upgraded when that ends, and meanwhile others read on', () =>
    withSchema(database, async (place, client) => {
      await using old = await openTestStore(place)
      // As pg_dump does.
      await client.query('BEGIN; LOCK TABLE tokens IN ACCESS SHARE MODE')
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
    }))

  test('stays as it is when a step fails', () =>
    withSchema(database, async (place, client) => {
      await using store = await openTestStore(place)
      await assert.rejects(
        upgrade(place, [...steps, { oldestVersion: 3, statements: ['ALTER TABLE none ADD x int8'] }]),
      )
      assert.deepEqual(await versions(client), [{ version: 1, oldest_version: 1 }])
      assert.equal(await store.createPlant({ id: 1n, name: 'n' }), 'created')
    }))
})
