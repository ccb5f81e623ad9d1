// The Store on PostgreSQL: the suite of all engines, and what is PostgreSQL's own.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, describe, test } from 'node:test'
import type { ServiceEvent } from '../../src/domain/events.ts'
import { type Plant, revisionOf } from '../../src/domain/plant.ts'
import { type Connection, warningsOf } from '../../src/store/postgres/connections/connection.ts'
import { openAll } from '../support/engines.ts'
import { listPage, toPlant } from '../support/plants.ts'
import { startDatabase, testsOf } from '../support/postgres.ts'
import { openTestStore, readPlant } from '../support/store.ts'
import { until } from '../support/time.ts'
import { rejectsWith, storeSuite, walk } from './suite.ts'

const database = await startDatabase()
after(() => database[Symbol.asyncDispose]())
const { onSchema, onStore } = testsOf(database)

/** On a busy machine a commit would be looked up, which fails by the suite's clock: it is years behind the database. */
const patient = { databaseIdleMsMax: 60_000, databaseCommitMsMax: 60_000, databaseProbeMsMax: 60_000 }

storeSuite({
  name: 'PostgreSQL',
  makePlace: async () => {
    const place = await database.makePlace()
    return {
      open: (clock, limits = {}) => openTestStore(place, { clock, limits: { ...patient, ...limits } }),
      [Symbol.asyncDispose]: async () => {},
    }
  },
})

test('settings that lose plants are warned of, those of a failover only where there are standbys', async () => {
  for (const [commit, standbys, warnings, ...others] of [
    ['local', '', 0],
    ['local', 'standby', 1],
    ['remote_write', 'standby', 1],
    ['on', 'standby', 0],
    ['off', '', 1],
    ['on', '', 2, ['fsync', 'off'], ['full_page_writes', 'off']],
  ] as const) {
    const rows = [['synchronous_commit', commit], ['synchronous_standby_names', standbys], ...others]
    const connection = { query: async () => rows } as unknown as Connection
    assert.equal((await warningsOf(connection)).length, warnings, `${commit} ${standbys}`)
  }
})

describe('a store in PostgreSQL', () => {
  onSchema('large pages are read one after another, unless they are no longer wanted', async ({ place, client }) => {
    await using store = await openTestStore(place, { limits: { databaseReaders: 4, quickPageBytesMax: 1 } })
    await store.createPlant(toPlant({ id: 1n, name: 'n' }))
    await client.query('BEGIN; LOCK TABLE plants IN ACCESS EXCLUSIVE MODE')
    const wanted: number[] = []
    const pages = [0, 1, 2].map((index) =>
      store.listPlants({ limit: 1_000 }, () => {
        wanted.push(index)
        if (index === 1) throw new Error('the client has left')
      }),
    )
    const reads = Promise.allSettled(pages)
    const countWaiting = async (): Promise<number> => {
      // Within a transaction activity is shown as it was at the first look.
      await client.query('SELECT pg_stat_clear_snapshot()')
      const isPage = `wait_event_type = 'Lock' AND query LIKE '%string_agg%'`
      return (await client.query(`SELECT FROM pg_stat_activity WHERE ${isPage}`)).rows.length
    }
    await until('a page waits', async () => (await countWaiting()) > 0)
    // Nothing else waits for a connection.
    for (let count = 0; count < 8; count += 1) await store.listTokens()
    assert.equal(await countWaiting(), 1)
    assert.deepEqual(wanted, [0])
    await client.query('ROLLBACK')
    const statuses = (await reads).map(({ status }) => status)
    assert.deepEqual(statuses, ['fulfilled', 'rejected', 'fulfilled'])
  })

  onStore('rows that somebody has damaged stop nothing else', async ({ store, client }) => {
    const contents = ['nonsense', 'null', '{}', '{"name":5,"scopes":"plants:read","createdAtMs":"x"}']
    for (const [index, content] of contents.entries()) {
      const insert = `INSERT INTO records (kind, id, version, content, hash) VALUES ('token', $1, 1, $3, $2),
        ('webhook', $4, 1, $3, NULL)`
      await client.query(insert, [`tok_${index}`, Buffer.from([index]), content, `hook_${index}`])
    }
    const listed = await store.listTokens()
    assert.deepEqual([listed.length, listed.every(({ revokedAtMs }) => revokedAtMs === 0)], [4, true])
    const both = [store.revokeToken('tok_0', 1), store.createPlant(toPlant({ id: 1n, name: 'n' }))]
    assert.deepEqual(await Promise.all(both), [true, 'created'])
    const reasons = (await store.listWebhooks()).map(({ paused }) => paused?.reason)
    const expected = contents.map(() => 'damaged')
    assert.deepEqual(reasons, expected)
    for (const index of contents.keys()) assert.equal(await store.removeWebhook(`hook_${index}`), true)
    assert.deepEqual(await store.listWebhooks(), [])
  })

  onStore('a damaged row of the log is a gap, behind which readers can continue', async ({ store, client }) => {
    const query = { kind: undefined, limit: 10 }
    for (const damage of [`lines = 'nonsense'`, 'at_ms = 9000000000000000000']) {
      await store.createPlant(toPlant({ id: 1n, name: 'n' }))
      const { next } = await store.listChanges({ ...query, after: 'now' })
      await client.query(`UPDATE changes SET ${damage} WHERE first = (SELECT max(first) FROM changes)`)
      await rejectsWith(store.listChanges({ ...query, after: undefined }), 'positionGone')
      await store.deletePlant(1n)
      assert.notEqual((await store.listChanges({ ...query, after: 'now' })).next, next)
    }
  })

  onSchema('a table that a crash empties is warned of', async ({ place, client }) => {
    const warnings: string[] = []
    const observe = (event: ServiceEvent): void => {
      // The database of the tests may have unsafe settings, too.
      if (event.kind === 'storeWarning' && event.message.includes('plants =')) warnings.push(event.message)
    }
    await (await openTestStore(place, { observe })).close()
    assert.deepEqual(warnings, [])
    await client.query('ALTER TABLE plants SET UNLOGGED')
    await (await openTestStore(place, { observe })).close()
    assert.deepEqual(warnings, [
      'the database has plants = unlogged: all plants are lost when it crashes; run ALTER TABLE plants SET LOGGED',
    ])
  })

  onSchema('now is behind all changes, also behind thousands that have no numbers yet', async ({ place, client }) => {
    await using store = await openTestStore(place)
    await store.createPlant(toPlant({ id: 1n, name: 'n' }))
    // Their first reader numbers 1,000 in a transaction.
    await client.query(
      'INSERT INTO changes (id, changes, at_ms, lines) SELECT gen_random_uuid(), changes, at_ms, lines FROM changes, generate_series(1, 2500) WHERE place = (SELECT max(place) FROM changes)',
    )
    const query = { after: undefined, kind: undefined, limit: 10_000 }
    const { next } = await store.listChanges({ ...query, after: 'now' })
    assert.deepEqual((await store.listChanges({ ...query, after: next })).changes, [])
    const { changes, isLast } = await store.listChanges(query)
    assert.deepEqual([changes.length, isLast, changes.at(-1)?.position], [2_501, true, next])
  })

  onSchema('of two stores that replace the same state one wins', async ({ place }) => {
    await using one = await openTestStore(place)
    await using two = await openTestStore(place)
    let plant = toPlant({ id: 1n, name: 'start' })
    await one.createPlant(plant)
    for (let round = 0; round < 20; round += 1) {
      const ifMatch = [revisionOf(plant.json)]
      const wanted = ['one', 'two'].map((name) => toPlant({ id: 1n, name: `${name} ${round}` }))
      const replacing = [one, two].map((store, index) => store.replacePlant(wanted[index] as Plant, { ifMatch }))
      const results = await Promise.allSettled(replacing)
      const winners = results.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []))
      assert.equal(winners.length, 1)
      plant = wanted[winners[0] ?? 0] as Plant
      assert.deepEqual(await two.getPlant(1n), plant)
    }
  })

  onSchema('one id, or one key, used at two stores at once creates once', async ({ place }) => {
    await using one = await openTestStore(place)
    await using two = await openTestStore(place)
    for (let id = 0n; id < 20n; id += 1n) {
      const key = { callerId: 'tok_1', key: `k${id}` }
      const outcomes = await Promise.all([one, two].map((store) => store.createPlant(toPlant({ id, name: 'n' }), key)))
      assert.deepEqual(outcomes.toSorted(), ['created', 'replayed'])
      const raced = await Promise.allSettled(
        [one, two].map((store, name) => store.createPlant(toPlant({ id: id - 100n, name: `${name}` }))),
      )
      const winner = raced.findIndex(({ status }) => status === 'fulfilled')
      assert.equal((raced[1 - winner] as PromiseRejectedResult).reason.code, 'idTaken')
      for (const store of [one, two]) assert.deepEqual(await readPlant(store, id - 100n), { name: `${winner}` })
      const other = await Promise.allSettled(
        [one, two].map((store, index) =>
          store.createPlant(toPlant({ id: 1000n + 2n * id + BigInt(index), name: 'n' }), { ...key, key: `o${id}` }),
        ),
      )
      assert.equal(other.filter(({ status }) => status === 'fulfilled').length, 1)
    }
  })

  onSchema('stores that replace the same plants at once neither block nor lose an update', async ({ place }) => {
    const stores = await openAll(Array.from({ length: 3 }, () => openTestStore(place)))
    const ids = Array.from({ length: 20 }, (_, index) => BigInt(index))
    for (const id of ids) await stores[0]?.createPlant(toPlant({ id, name: 'n' }))
    for (let round = 0; round < 20; round += 1) {
      const changes = stores.flatMap((store, index) =>
        (index % 2 === 0 ? ids : ids.toReversed()).map((id) =>
          store.replacePlant(toPlant({ id, name: `${round} ${index}` })),
        ),
      )
      await Promise.all(changes)
    }
    await Promise.all(stores.map((store) => store.close()))
  })

  onSchema('the tables of another program are left alone', async ({ place, client }) => {
    await client.query('CREATE TABLE plants (height int8)')
    await assert.rejects(openTestStore(place), { name: 'OperatorError', message: /another program/ })
    assert.deepEqual((await client.query('SELECT * FROM plants')).rows, [])
    assert.equal((await client.query(`SELECT to_regclass('records') AS found`)).rows[0].found, null)
  })

  onSchema('newer tables beside which this program can go on are used', async ({ place, client }) => {
    await (await openTestStore(place)).close()
    await client.query('ALTER TABLE plants ADD COLUMN height int8')
    await client.query('UPDATE plantstore_schema SET version = 9, oldest_version = 1')
    await using store = await openTestStore(place)
    assert.equal(await store.createPlant(toPlant({ id: 1n, name: 'n' })), 'created')
  })

  onStore('tables that are changed under a running server are read anew', async ({ store, client }) => {
    await store.createPlant(toPlant({ id: 1n, name: 'n' }), { callerId: 't', key: 'k' })
    await store.listTokens()
    for (const type of ['varchar(2000)', 'text']) {
      await client.query(`ALTER TABLE records ALTER COLUMN content TYPE ${type}`)
      await client.query(`ALTER TABLE idempotency_keys ALTER COLUMN key TYPE ${type}`)
      for (let read = 0; read < 10; read += 1) assert.deepEqual(await store.listTokens(), [])
      assert.equal(await store.createPlant(toPlant({ id: 1n, name: 'n' }), { callerId: 't', key: 'k' }), 'replayed')
    }
  })

  onSchema('a store waits for tables that another one is making', async ({ place, client }) => {
    await client.query(`BEGIN; SELECT pg_advisory_xact_lock(hashtext('plantstore'), hashtext(current_schema()));
      CREATE TABLE plantstore_schema (one int8)`)
    const opening = openTestStore(place)
    await until('it waits', async () => {
      return (await client.query(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`)).rows.length > 0
    })
    await client.query('ROLLBACK')
    await using store = await opening
    assert.equal(await store.createPlant(toPlant({ id: 1n, name: 'n' })), 'created')
  })

  onSchema('of several stores that rotate a token at once one does, over and over', async ({ place }) => {
    const stores = await openAll(Array.from({ length: 4 }, () => openTestStore(place)))
    const common = { name: 'n', scopes: ['plants:read'], createdAtMs: 0 } as const
    const hash = (text: string): Buffer => Buffer.from(text.padEnd(32))
    for (let round = 0; round < 10; round += 1) {
      const id = `tok_${round}`
      await stores[0]?.createToken({ ...common, id, hash: hash(id) })
      const outcomes = await Promise.all(
        stores.map((store, index) => {
          const successor = { ...common, id: `${id}_${index}`, hash: hash(`${id} ${index}`) }
          return store.rotateToken({ id, successor, atMs: 1, endsAtMs: 2 })
        }),
      )
      assert.deepEqual(outcomes.toSorted(), ['done', 'replaced', 'replaced', 'replaced'])
      const winner = `${id}_${outcomes.indexOf('done')}`
      const tokens = (await stores[0]?.listTokens()) ?? []
      assert.equal(tokens.find((token) => token.id === id)?.replacedBy, winner)
      assert.equal(tokens.filter((token) => token.id.startsWith(`${id}_`)).length, 1)
    }
    await Promise.all(stores.map((store) => store.close()))
  })

  onSchema('of many stores that make the first token at once one does', async ({ place }) => {
    const stores = await openAll(Array.from({ length: 6 }, () => openTestStore(place)))
    // Registered, so that all of them begin at the same moment.
    await Promise.all(stores.map((store, id) => store.createPlant(toPlant({ id: BigInt(id), name: 'n' }))))
    const made = await Promise.all(
      stores.map((store, index) => {
        const hash = Buffer.alloc(32, index)
        return store.createFirstToken({ id: `tok_${index}`, hash, name: 'n', scopes: ['plants:read'], createdAtMs: 0 })
      }),
    )
    assert.equal(made.filter((isMade) => isMade).length, 1)
    assert.equal((await stores[0]?.listTokens())?.length, 1)
    await Promise.all(stores.map((store) => store.close()))
  })

  onSchema('a summary of more plants than it counts tells estimates', async ({ place, client }) => {
    await using store = await openTestStore(place, { limits: { summaryPlantsCounted: 50 } })
    const create = (id: number) =>
      store.createPlant(
        toPlant({ id: BigInt(id), name: 'a', ...(id % 4 > 0 && { tag: id % 4 === 1 ? 'fern' : 'moss' }) }),
      )
    await Promise.all(Array.from({ length: 50 }, (_, id) => create(id)))
    assert.equal((await store.getSummary()).isExact, true)
    await Promise.all(Array.from({ length: 350 }, (_, id) => create(id + 50)))
    // Before anything is known of the table, and after.
    for (const isAnalysed of [false, true]) {
      if (isAnalysed) await client.query('ANALYZE plants')
      const summary = await store.getSummary()
      assert.equal(summary.isExact, false)
      assert.ok(isAnalysed ? summary.plants === 400 : summary.plants >= 51, `${summary.plants}`)
      const order = summary.tags.map(({ tag }) => tag)
      assert.deepEqual(order, ['moss', 'fern'])
      const [moss, fern] = summary.tags.map((tag) => tag.plants / summary.plants)
      assert.ok(Math.abs((moss ?? 0) - 0.5) < 0.05 && Math.abs((fern ?? 0) - 0.25) < 0.05, `${moss} ${fern}`)
    }
  })

  onSchema('a beginning of names that was common, and is not any more, is found', async ({ place }) => {
    await using store = await openTestStore(place, { limits: { pageScanPlantsMax: 10 } })
    for (let id = 0n; id < 100n; id += 1n)
      await store.createPlant(toPlant({ id, name: id % 4n === 0n ? 'fern' : 'moss' }))
    assert.equal((await walk(store, { namePrefix: 'fern', limit: 3 })).length, 25)
    for (let id = 0n; id < 80n; id += 4n) await store.deletePlant(id)
    for (let time = 0; time < 40; time += 1) {
      assert.deepEqual(await walk(store, { namePrefix: 'fern', limit: 3 }), [80n, 84n, 88n, 92n, 96n])
    }
  })

  onStore('expired keys are swept, but not one that is renewed meanwhile', async ({ store, client }) => {
    const create = (id: bigint) => store.createPlant(toPlant({ id, name: 'n' }), { callerId: 't', key: `key ${id}` })
    for (const id of [1n, 2n]) await create(id)
    await client.query('UPDATE idempotency_keys SET created_at_ms = 1')
    await client.query(`BEGIN; UPDATE idempotency_keys SET created_at_ms = ${Date.now()} WHERE key = 'key 1'`)
    await create(3n)
    await store.sweepChanges(0)
    await client.query('COMMIT')
    const { rows } = await client.query('SELECT key FROM idempotency_keys ORDER BY key')
    assert.deepEqual(rows, [{ key: 'key 1' }, { key: 'key 3' }])
    assert.equal(await create(1n), 'replayed')
  })

  onStore('a change of no plant leaves a row, which is swept later', async ({ store, place, client }) => {
    const token = { id: 'tok_1', hash: randomBytes(32), name: 'n', scopes: ['plants:read'], createdAtMs: 1 } as const
    await store.createToken(token)
    await store.createPlant(toPlant({ id: 1n, name: 'n' }))
    const before = await store.listChanges({ after: undefined, kind: undefined, limit: 9 })
    assert.equal(await store.revokeToken('tok_1', 5), true)
    assert.equal(await store.revokeToken('tok_1', 6), true)
    const count = async (): Promise<number> => (await client.query('SELECT FROM changes WHERE changes = 0')).rows.length
    assert.equal(await count(), 2, 'what is decided but not changed leaves none')
    assert.deepEqual(await store.listChanges({ after: undefined, kind: undefined, limit: 9 }), before)
    await store.sweepChanges(0)
    assert.equal(await count(), 2)
    await using later = await openTestStore(place, { limits: { databaseCommitKnownMs: -1_000 } })
    await later.sweepChanges(0)
    assert.equal(await count(), 0)
    assert.deepEqual(await store.listChanges({ after: undefined, kind: undefined, limit: 9 }), before)
  })

  onSchema('many creates of a plant that exists fail one transaction of the database', async ({ place, client }) => {
    await using store = await openTestStore(place, { limits: { databaseLookUpMs: 60_000 } })
    const create = () => store.createPlant(toPlant({ id: 1n, name: 'n' }))
    await create()
    await client.query(`CREATE SEQUENCE inserts; CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM nextval('inserts'); RETURN NEW; END $$`)
    await client.query('CREATE TRIGGER note BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION note()')
    for (let time = 0; time < 5; time += 1) await rejectsWith(create(), 'idTaken')
    const { rows } = await client.query('SELECT last_value, is_called FROM inserts')
    assert.deepEqual(rows, [{ last_value: '1', is_called: true }])
  })

  onStore('names of any length are kept, and found by prefixes of any length', async ({ store }) => {
    const long = '\u{10ffff}'.repeat(1_024)
    const wide = 'ﷺ'.repeat(1_024)
    await store.createPlant(toPlant({ id: 1n, name: long }))
    await store.createPlant(toPlant({ id: 2n, name: `${long.slice(2)}x` }))
    await store.createPlant(toPlant({ id: 3n, name: wide, tag: '🌿'.repeat(128) }))
    const find = async (namePrefix: string) => (await listPage(store, { namePrefix, limit: 10 })).map(({ id }) => id)
    assert.deepEqual(await find(long), [1n])
    assert.deepEqual(await find(long.slice(0, 1_000)), [1n, 2n])
    assert.deepEqual(await find(long.slice(0, 2)), [1n, 2n])
    assert.deepEqual(await find(wide), [3n])
    assert.deepEqual(await find(`${wide}x`), [])
    // What cannot be compressed takes its whole length in an index.
    const noise = Array.from({ length: 1_024 }, () =>
      String.fromCodePoint(0x20000 + Math.floor(Math.random() * 0xa000)),
    ).join('')
    await store.createPlant(toPlant({ id: 4n, name: noise, tag: noise.slice(0, 512) }))
    assert.deepEqual(await find(noise), [4n])
  })
})
