// Stores of earlier versions: served, backed up, restored and checked by this one.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { hashSecret, mintSecret } from '../../src/domain/token.ts'
import { migrate } from '../../src/store/sqlite/file/migrations.ts'
import { makeFolder } from '../support/folder.ts'
import { startDatabase, withSchema } from '../support/postgres.ts'
import { runHere, startServer } from '../support/program.ts'
import { openTestStore } from '../support/store.ts'
import { until } from '../support/time.ts'

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

describe('a database of version 1', async () => {
  const database = await startDatabase()
  after(() => database[Symbol.asyncDispose]())

  /** Takes away what the later versions added. */
  const makeFirstTables = async (place: string, client: { query(text: string): Promise<unknown> }): Promise<void> => {
    await (await openTestStore(place)).close()
    await client.query('DROP TABLE changes, changes_end, webhooks')
    await client.query('ALTER TABLE tokens DROP COLUMN replaced_by, DROP COLUMN last_used_day')
    await client.query('UPDATE plantstore_schema SET version = 1, oldest_version = 1')
    await client.query(`INSERT INTO tokens VALUES ('tok_old', '\\x${hashSecret(secret).toString('hex')}', 'old',
      'plants:read plants:write', 1, NULL, NULL)`)
  }

  test('is upgraded by the first of several servers that start at once', () =>
    withSchema(database, async (place, client) => {
      await makeFirstTables(place, client)
      const stores = await Promise.all(Array.from({ length: 5 }, () => openTestStore(place)))
      for (const store of stores) {
        assert.equal((await store.findToken(hashSecret(secret)))?.id, 'tok_old')
        await store.noteTokenUses(new Map([['tok_old', 3]]))
      }
      const { rows } = await client.query('SELECT version::int4, oldest_version::int4 FROM plantstore_schema')
      assert.deepEqual(rows, [{ version: 4, oldest_version: 4 }])
      assert.equal((await stores[0]?.listTokens())?.[0]?.lastUsedDay, 3)
      await Promise.all(stores.map((store) => store.close()))
    }))

  test('takes no change from an older server after the upgrade: it would be missing in the log of changes', () =>
    withSchema(database, async (place, client) => {
      await makeFirstTables(place, client)
      await client.query(
        `INSERT INTO registrations (id, last_commit, taken_ids, registered_at_ms) VALUES ('old', 0, '{}', 1)`,
      )
      await using upgraded = await openTestStore(place)
      // Without its row, an older server cannot commit; it asks for the version to get another one.
      assert.deepEqual((await client.query(`SELECT 1 FROM registrations WHERE id = 'old'`)).rows, [])
      const { rows } = await client.query('SELECT oldest_version <= 2 AS may FROM plantstore_schema')
      assert.deepEqual(rows, [{ may: false }])
      const { changes, isLast } = await upgraded.listChanges({ after: undefined, kind: undefined, limit: 1 })
      assert.deepEqual([changes, isLast], [[], true])
    }))

  test('that somebody reads for long is upgraded when that ends, and meanwhile others read on', () =>
    withSchema(database, async (place, client) => {
      await makeFirstTables(place, client)
      // As pg_dump does.
      await client.query('BEGIN; LOCK TABLE tokens IN ACCESS SHARE MODE')
      const opening = openTestStore(place)
      let isOpen = false
      void opening.then(() => {
        isOpen = true
      })
      await withSchemaReader(place, async (read) => {
        for (let count = 0; count < 10; count += 1) {
          const started = performance.now()
          await read()
          assert.ok(performance.now() - started < 3_000)
        }
      })
      assert.equal(isOpen, false)
      await client.query('COMMIT')
      await (await opening).close()
      const { rows } = await client.query('SELECT version::int4 FROM plantstore_schema')
      assert.deepEqual(rows, [{ version: 4 }])
    }))
})

/** Reads tokens over a connection of its own, as an older server does. */
async function withSchemaReader(place: string, run: (read: () => Promise<unknown>) => Promise<void>): Promise<void> {
  const { default: pg } = await import('pg')
  const url = new URL(place)
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  try {
    await run(async () => {
      await client.query('SELECT id FROM tokens')
      await new Promise((resolve) => setTimeout(resolve, 50))
    })
  } finally {
    await client.end()
  }
}
