// An unkind PostgreSQL: locked rows, odd settings of a role, triggers that skip rows, lost tables, a pooler.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { after, describe, mock, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { systemClock } from '../../src/domain/clock.ts'
import type { ServiceEvent } from '../../src/domain/events.ts'
import type { Store } from '../../src/domain/store.ts'
import type { Token } from '../../src/domain/token.ts'
import { commandLimits, limits } from '../../src/limits.ts'
import { decide, lookupsOf } from '../../src/store/ledger.ts'
import { parseAddress } from '../../src/store/postgres/connections/address.ts'
import { Connection } from '../../src/store/postgres/connections/connection.ts'
import { tables } from '../../src/store/postgres/connections/tables.ts'
import { makeRowId } from '../../src/store/postgres/lost-commits.ts'
import { find, sendEffects } from '../../src/store/postgres/transaction.ts'
import { type ProxyKind, startProxy } from '../http/framing/proxies.ts'
import { changesOf, listPage, readPage, toPlant } from '../support/plants.ts'
import {
  type Cluster,
  cancelCommits,
  exhaustiveOnCluster,
  loseStandby,
  needNoStandby,
  onCluster,
  startCluster,
  startDatabase,
  testsOf,
} from '../support/postgres.ts'
import { exhaustive } from '../support/ring.ts'
import { importPlants, openTestStore, readPlant } from '../support/store.ts'
import { until } from '../support/time.ts'
import { rejectsWith } from './suite.ts'

const database = await startDatabase()
after(() => database[Symbol.asyncDispose]())
const { onSchema, onStore } = testsOf(database)

describe('rows that somebody else has locked', () => {
  const patient = { databaseLockMsMax: 60_000 }

  /** Creates many plants by many clients at once; resolves once all of them are created. */
  const createOthers = async (store: Store, from: bigint): Promise<void> => {
    const create = async (client: bigint): Promise<void> => {
      for (let id = from + client; id < from + 640n; id += 64n) await store.createPlant(toPlant({ id, name: 'n' }))
    }
    await Promise.all(Array.from({ length: 64 }, (_, client) => create(BigInt(client))))
  }

  onSchema('others go on beside a change that waits, which is done after the lock', async ({ place, client }) => {
    await using store = await openTestStore(place, { limits: patient })
    await store.createPlant(toPlant({ id: 1n, name: 'n' }))
    await client.query('BEGIN; SELECT 1 FROM plants WHERE id = 1 FOR UPDATE')
    const settled: string[] = []
    const waiting = [
      store.replacePlant(toPlant({ id: 1n, name: 'm' })).then(() => settled.push('replaced')),
      store
        .createPlant(toPlant({ id: 1n, name: 'n' }), { callerId: 't', key: 'k' })
        .catch(({ code }) => settled.push(code)),
    ]
    await createOthers(store, 1_000n)
    assert.deepEqual(settled, [])
    await client.query('ROLLBACK')
    await Promise.all(waiting)
    assert.deepEqual(settled.toSorted(), ['idTaken', 'replaced'])
    assert.deepEqual(await readPlant(store, 1n), { name: 'm' })
  })

  onSchema('the same beside an import that keeps its ids to itself until it is committed', async ({ place }) => {
    await using store = await openTestStore(place, { limits: patient })
    await using other = await openTestStore(place)
    const bulk = await other.beginImport({ isWhole: true })
    const imported = Array.from({ length: 100 }, (_, id) => toPlant({ id: BigInt(id), name: 'imported' }))
    await bulk.add(imported, 'fail')
    const settled: string[] = []
    const waiting = [1n, 2n, 3n].map((id) =>
      store.createPlant(toPlant({ id, name: 'mine' })).catch(({ code }) => settled.push(code)),
    )
    await createOthers(store, 1_000n)
    assert.deepEqual(settled, [])
    await bulk.commit()
    await Promise.all(waiting)
    assert.deepEqual(settled, ['idTaken', 'idTaken', 'idTaken'])
    await bulk.end()
  })

  onStore('very many of them hold up others for a moment, and break nothing', async ({ store, client }) => {
    const ids = Array.from({ length: 150 }, (_, id) => BigInt(id))
    const plants = ids.map((id) => ({ id, name: 'n' }))
    await importPlants(store, plants)
    await client.query('BEGIN; SELECT 1 FROM plants FOR UPDATE')
    const replacing = Promise.allSettled(ids.map((id) => store.replacePlant(toPlant({ id, name: 'm' }))))
    await createOthers(store, 1_000n)
    for (const result of await replacing) {
      assert.equal((result as PromiseRejectedResult).reason.code, 'overloaded')
    }
    await client.query('ROLLBACK')
    for (const id of ids) await store.replacePlant(toPlant({ id, name: 'o' }))
    assert.equal(await store.createPlant(toPlant({ id: -1n, name: 'n' })), 'created')
  })

  onSchema('a change that is not answered in time leaves the connection in order', async ({ place, client }) => {
    const hasty = { databaseCommitMsMax: 200, databaseLockMs: 1_000, databaseLockRetryMs: 1_000 }
    const events: string[] = []
    await using store = await openTestStore(place, { limits: hasty, observe: ({ kind }) => events.push(kind) })
    await store.createPlant(toPlant({ id: 1n, name: 'n' }))
    await client.query('BEGIN; SELECT 1 FROM plants WHERE id = 1 FOR UPDATE')
    // On a busy machine the database may refuse it before its client gives it up.
    let code: unknown = 'overloaded'
    while (code === 'overloaded')
      code = await store.replacePlant(toPlant({ id: 1n, name: 'm' })).catch(({ code }) => code)
    assert.equal(code, 'storeUnavailable')
    while ((await store.createPlant(toPlant({ id: 2n, name: 'n' })).catch(({ code }) => code)) === 'overloaded')
      await sleep(5)
    assert.deepEqual(await readPlant(store, 2n), { name: 'n' })
    await client.query('ROLLBACK')
    await store.replacePlant(toPlant({ id: 1n, name: 'o' }))
    assert.ok(!events.includes('storeAway'))
  })

  onCluster('one that stays locked leaves at most two errors in the log of the database', async (cluster) => {
    await using store = await openTestStore(cluster.url)
    await store.createPlant(toPlant({ id: 1n, name: 'n' }))
    const client = new pg.Client(cluster.url)
    await client.connect()
    await client.query('BEGIN; SELECT 1 FROM plants WHERE id = 1 FOR UPDATE')
    await rejectsWith(store.replacePlant(toPlant({ id: 1n, name: 'm' })), 'overloaded')
    await client.end()
    const errors = (await readFile(`${cluster.folder}/log`, 'utf8')).match(/ERROR: .*/g) ?? []
    // One on each connection for changes.
    assert.ok(errors.length <= 2, errors.join('\n'))
  })
})

for (const [what, own, lock, attempt, refused] of [
  [
    'changes of locked rows',
    { databaseLockMsMax: 60_000, databaseLockedJobsMax: 2 },
    'SELECT 1 FROM plants FOR UPDATE',
    (store: Store, index: number) => store.replacePlant(toPlant({ id: 1n, name: `${index}` })),
    undefined,
  ],
  [
    'reads',
    { databaseReaders: 2, databaseReadsMax: 3 },
    'LOCK TABLE plants IN ACCESS EXCLUSIVE MODE',
    (store: Store) => readPlant(store, 1n),
    5,
  ],
] as const) {
  onSchema(`more ${what} than may wait are refused at once`, async ({ place, client }) => {
    await using store = await openTestStore(place, { limits: own })
    await store.createPlant(toPlant({ id: 1n, name: 'n' }))
    await client.query(`BEGIN; ${lock}`)
    const tries = Array.from({ length: 10 }, (_, index) =>
      attempt(store, index).then(
        () => 'done',
        ({ code }) => String(code),
      ),
    )
    assert.equal(await Promise.race(tries), 'overloaded')
    await client.query('ROLLBACK')
    const outcomes = Object.groupBy(await Promise.all(tries), (outcome) => outcome)
    assert.deepEqual(Object.keys(outcomes).toSorted(), ['done', 'overloaded'])
    if (refused !== undefined) assert.equal(outcomes['overloaded']?.length, 10 - refused - 1)
  })
}

onSchema('a read that takes too long is refused, and the ones after it are answered', async ({ place, client }) => {
  const few = { databaseReaders: 1, databaseReadMsMax: 150 }
  const events: ServiceEvent[] = []
  await using store = await openTestStore(place, { limits: few, observe: (event) => events.push(event) })
  await store.createPlant(toPlant({ id: 1n, name: 'n' }))
  await client.query('BEGIN; LOCK TABLE plants IN ACCESS EXCLUSIVE MODE')
  await Promise.all([1, 2, 3].map(() => rejectsWith(readPlant(store, 1n), 'overloaded')))
  await rejectsWith(readPage(store, { limit: 1 }), 'overloaded')
  // The database gives it up, too: its connection is there for others while the lock is held.
  while ((await store.listTokens().catch(({ code }) => code)) === 'overloaded') await sleep(5)
  assert.deepEqual(await store.listTokens(), [])
  await client.query('ROLLBACK')
  while ((await readPlant(store, 1n).catch(({ code }) => code)) === 'overloaded') await sleep(5)
  assert.deepEqual(await readPlant(store, 1n), { name: 'n' })
  // Statements whose preparation met the lock are prepared again.
  assert.ok(events.every(({ kind }) => kind !== 'storeAway'))
})

exhaustive.describe('a commit that waits for its standby', () => {
  /** Creates plant 2 while the standby is away, and ends the commit and then the first look-up of what became of it. */
  const createAndEnd = async (
    databaseCommitMsMax: number,
    endLookUp: (cluster: Cluster) => Promise<unknown>,
    run: (cluster: Cluster, create: Promise<unknown>) => Promise<void>,
  ): Promise<void> => {
    await using cluster = await startCluster()
    await using store = await openTestStore(cluster.url, { limits: { databaseCommitMsMax } })
    await store.createPlant(toPlant({ id: 1n, name: 'n' }))
    await loseStandby(cluster)
    const create = store.createPlant(toPlant({ id: 2n, name: 'n' })).catch(({ code }) => code)
    const terminate = `SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
    let commit: unknown
    await until('the commit waits', async () => {
      commit = (await cluster.query(terminate))[0]?.[0]
      return commit !== undefined
    })
    await until('the look-up waits', () => isWaiting(cluster, `pid <> ${commit}`))
    await endLookUp(cluster)
    await run(cluster, create)
    await needNoStandby(cluster)
  }

  const isWaiting = async (cluster: Cluster, condition = 'true'): Promise<boolean> =>
    (await cluster.query(`SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND ${condition}`)).length > 0

  const terminateAll = (cluster: Cluster): Promise<unknown> =>
    cluster.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)

  const restart = async (cluster: Cluster): Promise<void> => {
    await cluster.stop('fast')
    await cluster.start()
  }

  for (const [title, end] of [
    ['terminated', terminateAll],
    ['ended by a fast shutdown of the primary', restart],
  ] as const) {
    test(`${title}, it is not confirmed`, async () => {
      await createAndEnd(3_000, end, async (_, create) => assert.equal(await create, 'storeUnavailable'))
    })
  }

  test('terminated, it is confirmed once the standby has it', async () => {
    await createAndEnd(60_000, terminateAll, async (cluster, create) => {
      await until('the next look-up waits', () => isWaiting(cluster))
      await needNoStandby(cluster)
      assert.equal(await create, 'created')
    })
  })
})

onStore('the log of changes does not wait for an import, whose changes come behind', async ({ store }) => {
  const all = { after: undefined, kind: undefined, limit: 10 }
  const bulk = await store.beginImport({ isWhole: true })
  await bulk.add([toPlant({ id: 5n, name: 'late' })], 'fail')
  await store.createPlant(toPlant({ id: 1n, name: 'n' }))
  const first = await store.listChanges(all)
  assert.equal(changesOf(first.changes)[0]?.plant.id, 1n)
  await bulk.commit()
  await bulk.end()
  const { changes } = await store.listChanges({ ...all, after: first.next })
  assert.deepEqual([changes.length, changesOf(changes)[0]?.plant.id], [1, 5n])
})

exhaustive.describe('settings of a role', () => {
  onCluster('a cancelled commit is not confirmed, whatever messages a role wants', async (cluster) => {
    await cluster.query('ALTER ROLE postgres SET client_min_messages = error')
    await using store = await openTestStore(cluster.url)
    await store.createPlant(toPlant({ id: 1n, name: 'n' }))
    await loseStandby(cluster)
    const create = rejectsWith(store.createPlant(toPlant({ id: 2n, name: 'n' })), 'storeUnavailable')
    await until('the commit waits', () => cancelCommits(cluster))
    await create
    await needNoStandby(cluster)
    await store.createPlant(toPlant({ id: 3n, name: 'n' }))
  })

  onCluster('a change that finds nothing to do is confirmed with what it has read', async (cluster) => {
    await cluster.query('CREATE ROLE gardener LOGIN; GRANT CREATE ON SCHEMA public TO gardener')
    const url = cluster.url.replace('postgres@', 'gardener@')
    await using store = await openTestStore(url)
    await using other = await openTestStore(url, { limits: { databaseCommitMsMax: 300 } })
    await store.createPlant(toPlant({ id: 1n, name: 'n' }))
    await rejectsWith(other.deletePlant(2n), 'unknownPlant')
    await loseStandby(cluster)
    const deleting = rejectsWith(store.deletePlant(1n), 'storeUnavailable')
    await until('the commit waits', () => cancelCommits(cluster))
    await deleting
    await rejectsWith(other.deletePlant(1n), 'storeUnavailable')
    await needNoStandby(cluster)
  })

  test('its limits are those of the program', async () => {
    const wanted = {
      idle_in_transaction_session_timeout: '2000',
      idle_session_timeout: '0',
      tcp_keepalives_count: '3',
      tcp_keepalives_idle: '10',
      tcp_keepalives_interval: '5',
      tcp_user_timeout: '25000',
    }
    const connection = await openConnection(`${await database.makePlace()}%20-cidle_session_timeout%3D300`)
    const text = 'SELECT name, setting FROM pg_settings WHERE name = ANY($1) ORDER BY name'
    const rows = await connection.query({ name: 'settings', text }, [Object.keys(wanted)])
    await connection.close()
    assert.deepEqual(rows, Object.entries(wanted))
  })
})

describe('a database that takes no changes', () => {
  onSchema('a server does not start, says why, and leaves no connection', async ({ place: schema, client }) => {
    const place = `${schema}%20-cdefault_transaction_read_only%3Don&application_name=refused`
    const why = /cannot be opened: the database takes no changes: it is a standby or read-only; .* lead to the primary$/
    await assert.rejects(openTestStore(place), why)
    const left = () => client.query(`SELECT FROM pg_stat_activity WHERE application_name = 'refused'`)
    await until('its connection is closed', async () => (await left()).rowCount === 0, 5_000)
  })

  exhaustiveOnCluster('a server that runs refuses changes, and is back by itself', async (cluster) => {
    const causes: string[] = []
    await using store = await openTestStore(cluster.url, {
      limits: { databaseReasonMs: 10, databaseCommitMsMax: 500 },
      observe: (event) => {
        if (event.kind === 'storeAway') causes.push(String(event.cause))
      },
    })
    let lastId = 1n
    await store.createPlant(toPlant({ id: lastId, name: 'n' }))
    await cluster.query('ALTER SYSTEM SET default_transaction_read_only = on')
    await cluster.query('SELECT pg_reload_conf()')
    // The sessions of the store hear of it a moment later.
    let refused = 'nothing'
    await until('a change is refused', async () => {
      lastId += 1n
      refused = await store.createPlant(toPlant({ id: lastId, name: 'n' })).catch(({ code }) => code)
      return refused !== 'created'
    })
    assert.equal(refused, 'storeUnavailable')
    await rejectsWith(store.createPlant(toPlant({ id: -1n, name: 'n' })), 'storeAway')
    assert.equal(store.isAvailable, false)
    assert.match(causes.at(-1) ?? '', /the database takes no changes: it is a standby or read-only/)
    await cluster.query('ALTER SYSTEM RESET default_transaction_read_only')
    await cluster.query('SELECT pg_reload_conf()')
    await until('it is back', () => store.isAvailable)
    assert.equal(await store.createPlant(toPlant({ id: lastId, name: 'n' })), 'created')
  })
})

describe('triggers that skip rows', () => {
  const skip = (table: string, when: string): string =>
    `CREATE TRIGGER skip BEFORE ${when} ON ${table} FOR EACH ROW EXECUTE FUNCTION skip()`

  const fails = (promise: Promise<unknown>): Promise<void> =>
    assert.rejects(promise, /could not do .*not every (plant|row) was written/)

  onStore('what was not written is not acknowledged', async ({ store, client }) => {
    await store.createPlant(toPlant({ id: 1n, name: 'n' }))
    const token: Token = { id: 'tok_1', hash: randomBytes(32), name: 'n', scopes: ['plants:read'], createdAtMs: 1 }
    await store.createToken(token)
    await client.query('CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$')
    for (const table of ['plants', 'idempotency_keys', 'records']) {
      await client.query(skip(table, 'INSERT OR UPDATE OR DELETE'))
      const key = { callerId: 't', key: `k ${table}` }
      if (table === 'plants') {
        await fails(store.createPlant(toPlant({ id: 2n, name: 'n' })))
        await fails(store.replacePlant(toPlant({ id: 1n, name: 'm' })))
        await fails(store.deletePlant(1n))
        const bulk = await store.beginImport({ isWhole: false })
        await assert.rejects(bulk.add([toPlant({ id: 4n, name: 'n' })], 'fail'))
      }
      if (table === 'records') {
        await fails(store.createToken({ ...token, id: 'tok_2', hash: randomBytes(32) }))
        await fails(store.revokeToken('tok_1', 5))
      } else {
        await fails(store.createPlant(toPlant({ id: 3n, name: 'n' }), key))
      }
      await client.query(`DROP TRIGGER skip ON ${table}`)
      assert.deepEqual(await listPage(store, { limit: 9 }), [{ id: 1n, name: 'n' }])
      assert.deepEqual((await store.listTokens()).length, 1)
    }
  })

  for (const [skipped, outcome] of [
    [2, 'created'],
    [3, 'refused'],
  ] as const) {
    onStore(`a row that is skipped ${skipped} times: it is ${outcome}`, async ({ store, client }) => {
      await client.query('CREATE SEQUENCE tries')
      await client.query(`CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF nextval('tries') <= ${skipped} THEN RETURN NULL; END IF; RETURN NEW; END $$`)
      await client.query(skip('plants', 'INSERT'))
      const creating = store.createPlant(toPlant({ id: 1n, name: 'n' }))
      if (outcome === 'created') assert.equal(await creating, 'created')
      else await fails(creating)
    })
  }

  for (const [title, spoil] of [
    ['whose row was skipped', skip('plants', 'INSERT')],
    ['that breaks a rule of the table', 'ALTER TABLE plants ADD CHECK (id <> 7)'],
  ] as const) {
    onStore(`only the job ${title} fails`, async ({ store, client }) => {
      await client.query(`CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF NEW.id = 7 THEN RETURN NULL; END IF; RETURN NEW; END $$`)
      await client.query(spoil)
      const ids = Array.from({ length: 20 }, (_, id) => BigInt(id))
      const results = await Promise.allSettled(ids.map((id) => store.createPlant(toPlant({ id, name: 'n' }))))
      const failed = results.flatMap(({ status }, id) => (status === 'rejected' ? [id] : []))
      assert.deepEqual(failed, [7])
      assert.match(String((results[7] as PromiseRejectedResult).reason), /could not do createPlant/)
      assert.equal((await listPage(store, { limit: 30 })).length, 19)
    })
  }

  onStore('a rule that skips rows, too', async ({ store, client }) => {
    await store.createPlant(toPlant({ id: 1n, name: 'n' }))
    for (const [event, change] of [
      ['INSERT', () => store.createPlant(toPlant({ id: 2n, name: 'n' }))],
      ['INSERT', () => store.createPlant(toPlant({ id: 2n, name: 'n' }), { callerId: 't', key: 'k' })],
      ['UPDATE', () => store.replacePlant(toPlant({ id: 1n, name: 'm' }))],
      ['DELETE', () => store.deletePlant(1n)],
    ] as const) {
      await client.query(`CREATE RULE skip AS ON ${event} TO plants DO INSTEAD NOTHING`)
      await assert.rejects(change(), /could not do .* (rules are not supported|cannot perform)/)
      await client.query('DROP RULE skip ON plants')
    }
    assert.deepEqual(await listPage(store, { limit: 9 }), [{ id: 1n, name: 'n' }])
  })
})

describe('tables that cannot be used any more', async () => {
  const cluster = await startCluster()
  after(() => cluster[Symbol.asyncDispose]())
  await cluster.query('CREATE ROLE gardener LOGIN; GRANT CREATE ON SCHEMA public TO gardener')
  const url = cluster.url.replace('postgres@', 'gardener@')
  let lastId = 0n
  const alter = 'ALTER TABLE plants'

  for (const [title, spoil, mend, refused] of [
    ['dropped', 'ALTER TABLE plants RENAME TO flowers', 'ALTER TABLE flowers RENAME TO plants', ['change', 'read']],
    ['forbidden', 'REVOKE ALL ON plants FROM gardener', 'GRANT ALL ON plants TO gardener', ['change', 'read']],
    ...Object.keys(tables).map((name) => {
      const [spoil, mend] = [`REVOKE INSERT ON ${name} FROM gardener`, `GRANT INSERT ON ${name} TO gardener`]
      return [`with ${name} read-only`, spoil, mend, name === 'plants' ? (['change'] as const) : []] as const
    }),
    [
      'hidden by row level security',
      `${alter} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`,
      `${alter} DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY`,
      ['change', 'read'],
    ],
    ['with a renamed column', `${alter} RENAME plant TO flower`, `${alter} RENAME flower TO plant`, ['change', 'read']],
    [
      'with a new column that needs a value',
      `ALTER TABLE plants ADD soil text NOT NULL DEFAULT 'clay'; ALTER TABLE plants ALTER soil DROP DEFAULT`,
      'ALTER TABLE plants DROP soil',
      // The database refuses a single change as wrong in itself, until it is noticed that all are.
      [],
    ],
  ] as const) {
    test(`${title}: the store is not available, refuses with nothing done, and comes back`, async () => {
      const events: ServiceEvent[] = []
      await using store = await openTestStore(url, { observe: (event) => events.push(event) })
      const create = () => {
        lastId += 1n
        return store.createPlant(toPlant({ id: lastId, name: 'n' }))
      }
      const requests = { change: create, read: () => readPlant(store, 1n) }
      await create()
      await readPlant(store, 1n)
      await cluster.query(spoil)
      for (const name of refused) await rejectsWith(requests[name](), 'storeAway')
      await until('it is noticed', () => !store.isAvailable)
      for (const request of Object.values(requests)) await rejectsWith(request(), 'storeAway')
      await cluster.query(mend)
      await until('it is noticed again', () => store.isAvailable)
      assert.equal(await create(), 'created')
      const kinds = events.flatMap(({ kind }) => (kind === 'storeAway' || kind === 'storeBack' ? [kind] : []))
      assert.deepEqual(kinds, ['storeAway', 'storeBack'])
    })
  }

  test('a read of a database that does not answer is refused in time', async () => {
    const blind = { databaseReadMsMax: 150, databaseProbeMsMax: 3_600_000 }
    await using store = await openTestStore(url, { limits: blind })
    await readPlant(store, 1n)
    cluster.signal('SIGSTOP')
    await rejectsWith(readPlant(store, 1n), 'overloaded')
    cluster.signal('SIGCONT')
    while ((await readPlant(store, 1n).catch(({ code }) => code)) === 'overloaded') await sleep(5)
  })

  test('are those to which docs/postgresql.md gives rights', async () => {
    const text = await readFile(new URL('../../docs/postgresql.md', import.meta.url), 'utf8')
    const [, named = ''] = /GRANT SELECT, INSERT, UPDATE, DELETE ON ([^;]*) TO/.exec(text) ?? []
    assert.deepEqual(named.split(/,\s+/), Object.keys(tables))
  })

  test('why the database cannot be reached is said again whenever it changes', async () => {
    const causes: string[] = []
    await using store = await openTestStore(url, {
      limits: { databaseReasonMs: 10 },
      observe: (event) => {
        if (event.kind === 'storeAway') causes.push(String(event.cause))
      },
    })
    await cluster.query('ALTER ROLE gardener NOLOGIN')
    await cluster.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'gardener'`)
    await until('the second reason is said', () => causes.length === 2)
    await cluster.query('ALTER ROLE gardener LOGIN CONNECTION LIMIT 0')
    await until('the third reason is said', () => causes.length === 3)
    await cluster.query('ALTER ROLE gardener CONNECTION LIMIT -1')
    await until('it is back', () => store.isAvailable)
    assert.match(causes[0] ?? '', /terminating connection|ended|terminated/)
    assert.match(causes[1] ?? '', /role "gardener" is not permitted to log in/)
    assert.match(causes[2] ?? '', /too many connections for role "gardener"/)
    assert.equal(causes.length, 3)
  })
})

describe('failures that are not the fault of a request', () => {
  for (const [what, condition, code] of [
    ['a disk that cannot be read', 'io_error', 'overloaded'],
    ['a disk that is full', 'disk_full', 'storeFull'],
    ['a lack of memory', 'out_of_memory', 'overloaded'],
  ] as const) {
    onStore(`${what}: the change is refused with nothing done`, async ({ store, client }) => {
      await client.query(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not go on' USING ERRCODE = '${condition}'; END $$`)
      await client.query('CREATE TRIGGER fail BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION fail()')
      await rejectsWith(store.createPlant(toPlant({ id: 1n, name: 'n' })), code)
    })
  }
})

onSchema('a store opens although somebody has locked the row of the tables', async ({ place, client }) => {
  await (await openTestStore(place)).close()
  await client.query('BEGIN; SELECT 1 FROM plantstore_schema WHERE one = 1 FOR UPDATE')
  await using store = await openTestStore(place)
  assert.equal(await store.createPlant(toPlant({ id: 1n, name: 'n' })), 'created')
  await client.query('ROLLBACK')
})

test('a key that another server used meanwhile does not bring back the plant that it created', async () => {
  const place = await database.makePlace()
  await using store = await openTestStore(place)
  const connection = await openConnection(place)
  const plant = toPlant({ id: 7n, name: 'fern' })
  const key = { callerId: 'c', key: 'k' }
  const atMs = Date.now()
  const idempotencyKey = { ...key, fingerprint: Buffer.alloc(32), atMs }
  const jobs = [{ kind: 'createPlant', ...plant, idempotencyKey }] as const
  const begin = () => [connection.command('BEGIN'), find(connection, lookupsOf(jobs))] as const
  const [, found] = await connection.sendTogether(begin)
  assert.equal(await store.createPlant(plant, key), 'created')
  await store.deletePlant(7n)
  const { effects } = decide(jobs, found, limits.idempotencyKeyMs)
  const send = () => sendEffects(connection, effects, { ...limits, id: makeRowId(atMs), atMs })
  await assert.rejects(connection.sendTogether(send), /not every row was written/)
  await connection.close()
  assert.equal(await store.getPlant(7n), undefined)
})

const noPgBouncer = spawnSync('pgbouncer', ['--version']).status !== 0 && 'there is no pgbouncer here'

exhaustive.describe('PgBouncer', { skip: noPgBouncer }, () => {
  for (const [mode, more] of [
    ['session', ''],
    ['transaction', ''],
    ['transaction', 'server_reset_query_always = 1'],
    ['statement', 'server_reset_query_always = 1'],
  ] as const) {
    const expected = mode === 'session' ? 'is served' : 'is named as the cause'
    onCluster(`pool_mode = ${mode} ${more && `with ${more} `}${expected}`, async (cluster) => {
      await using pooler = await startProxy(pgBouncer(`pool_mode = ${mode}\n${more}`), cluster.port)
      const opening = openTestStore(`postgres://postgres@127.0.0.1:${pooler.port}/postgres`)
      if (mode !== 'session') {
        await assert.rejects(opening, /with PgBouncer set pool_mode = session for this database/)
        return
      }
      await using store = await opening
      assert.equal(await store.createPlant(toPlant({ id: 1n, name: 'n' })), 'created')
      assert.equal(await store.createPlant(toPlant({ id: 2n, name: 'n' }), { callerId: 't', key: 'k' }), 'created')
      assert.deepEqual(await readPlant(store, 1n), { name: 'n' })
    })
  }
})

/** It refuses to be run by root. */
const pgBouncer = (settings: string): ProxyKind => ({
  name: 'PgBouncer',
  command: 'pgbouncer',
  args: (configFile) => [...(process.getuid?.() === 0 ? ['-u', 'postgres'] : []), configFile],
  configure: (_folder, port, target) => `[databases]
postgres = host=127.0.0.1 port=${target} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
default_pool_size = 20
server_login_retry = 0
${settings}
`,
})

onStore('a commit that no standby has confirmed is not confirmed, and no later one is doubted', async ({ store }) => {
  const { query } = pg.Client.prototype
  function queryCancelled(this: pg.Client, ...sent: Parameters<typeof query>): unknown {
    // As if the wait for the standby had been cancelled.
    if (sent[0] === 'COMMIT') this.emit('notice', { routine: 'SyncRepWaitForLSN' })
    return query.apply(this, sent)
  }
  const bulk = await store.beginImport({ isWhole: true })
  await bulk.add([toPlant({ id: 2n, name: 'n' })], 'fail')
  const { mock: cancelling } = mock.method(pg.Client.prototype, 'query', queryCancelled)
  const outcomes = await Promise.allSettled([bulk.commit(), store.createPlant(toPlant({ id: 1n, name: 'n' }))])
  cancelling.restore()
  await bulk.end()
  for (const outcome of outcomes) assert.equal((outcome as PromiseRejectedResult).reason?.code, 'storeUnavailable')
  await store.deletePlant(1n)
})

function openConnection(place: string): Promise<Connection> {
  const options = { address: parseAddress(place, {}), clock: systemClock, limits: commandLimits }
  return Connection.open(options, { statementMsMax: 0, lockMsMax: 0, answerMsMax: 0, idleTransactionMsMax: 2_000 })
}
