// The response to a COMMIT is lost: the server looks up the outcome before it answers.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemClock } from '../../src/domain/clock.ts'
import type { Token } from '../../src/domain/token.ts'
import { type Limits, limits } from '../../src/limits.ts'
import { locate } from '../../src/store/postgres/connections/address.ts'
import { lookUp, makeRowId } from '../../src/store/postgres/lost-commits.ts'
import { rejectsWith } from '../store/suite.ts'
import { toPlant } from '../support/plants.ts'
import { startDatabase, testsOf } from '../support/postgres.ts'
import { testOn } from '../support/ring.ts'
import { openTestStore, readPlant } from '../support/store.ts'
import { until } from '../support/time.ts'
import { type Cut, CuttingProxy } from './proxy.ts'

describe('a lost answer to COMMIT', async () => {
  const database = await startDatabase()
  after(() => database[Symbol.asyncDispose]())
  const { onSchema } = testsOf(database)

  const throughProxy = async ({ clock = systemClock, setting = '', changed = {} as Partial<Limits> } = {}) => {
    const url = new URL(`${await database.makePlace()}${setting}`)
    const proxy = await CuttingProxy.start(Number(url.port))
    const direct = await openTestStore(url.href, { clock })
    url.port = String(proxy.port)
    // A silence is noticed sooner than by a real server, which costs nothing when the database is near.
    const own = { databaseProbeMs: 50, databaseSilenceMs: 100, ...changed }
    const store = await openTestStore(url.href, { clock, limits: own })
    let settled = 1_000n
    return {
      proxy,
      store,
      direct,
      /** Cuts the next transaction of a session that is open. */
      cutNext: async (cut: Cut) => {
        settled += 1n
        await store.createPlant(toPlant({ id: settled, name: 'settled' }))
        proxy.cutNext(cut)
      },
      [Symbol.asyncDispose]: async () => {
        await store.close()
        await direct.close()
        await proxy[Symbol.asyncDispose]()
      },
    }
  }

  const onProxy = testOn(() => throughProxy())

  for (const cut of ['lostAnswer', 'lostCommit', 'silentAnswer', 'silentCommit'] satisfies Cut[]) {
    onProxy(`${cut}: each change is done once and answered for`, async ({ proxy, store, direct, cutNext }) => {
      await direct.createPlant(toPlant({ id: 1n, name: 'taken' }))
      await cutNext(cut)
      const mine = [1n, 2n].map((id) => toPlant({ id, name: 'mine' }))
      const both = await Promise.allSettled(mine.map((plant) => store.createPlant(plant)))
      assert.equal((both[0] as PromiseRejectedResult).reason.code, 'idTaken')
      assert.deepEqual(both[1], { status: 'fulfilled', value: 'created' })
      await cutNext(cut)
      const key = { callerId: 'tok_1', key: 'k' }
      assert.equal(await store.createPlant(toPlant({ id: 3n, name: 'keyed' }), key), 'created')
      await cutNext(cut)
      await store.replacePlant(toPlant({ id: 2n, name: 'replaced' }))
      await cutNext(cut)
      await store.deletePlant(3n)
      assert.equal(proxy.cuts, 4)
      assert.equal(await direct.createPlant(toPlant({ id: 3n, name: 'keyed' }), key), 'replayed')
      for (const reader of [store, direct]) {
        assert.deepEqual(await readPlant(reader, 1n), { name: 'taken' })
        assert.deepEqual(await readPlant(reader, 2n), { name: 'replaced' })
        assert.equal(await reader.getPlant(3n), undefined)
      }
    })
  }

  for (const cut of ['lostAnswer', 'lostCommit'] satisfies Cut[]) {
    onProxy(`${cut}: a change of a token is done once and answered for`, async ({ proxy, store, direct, cutNext }) => {
      const token: Token = { id: 'tok_1', hash: randomBytes(32), name: 'n', scopes: ['plants:read'], createdAtMs: 1 }
      await cutNext(cut)
      assert.equal(await store.createFirstToken(token), true)
      assert.equal(proxy.cuts, 1)
      assert.equal((await direct.listTokens()).length, 1)
    })
  }

  onSchema('a look-up waits for the transaction; if that did not commit, it never will', async ({ place, client }) => {
    await using _store = await openTestStore(place)
    const common = { exclusive: false, mayMake: false, clock: systemClock, environment: {}, observe: () => {} }
    const options = locate(place, { ...common, limits })
    const isCommitted = (id: string): Promise<boolean> => lookUp(id, options, systemClock.monotonicMs() + 10_000)
    const insert = (id: string) =>
      client.query(`INSERT INTO changes (id, changes, at_ms, lines) VALUES ($1, 0, $2, '')`, [id, Date.now()])
    for (const end of ['COMMIT', 'ROLLBACK']) {
      const id = makeRowId(Date.now())
      await client.query('BEGIN')
      await insert(id)
      const looking = isCommitted(id)
      await until('the look-up waits', async () => {
        // Within a transaction activity is shown as it was at the first look.
        await client.query('SELECT pg_stat_clear_snapshot()')
        const { rows } = await client.query(`SELECT pg_backend_pid() = ANY(pg_blocking_pids(pid)) AS waits
          FROM pg_stat_activity WHERE query LIKE 'INSERT INTO changes%'`)
        return rows.some(({ waits }) => waits)
      })
      await client.query(end)
      assert.equal(await looking, end === 'COMMIT')
      assert.equal(await isCommitted(id), end === 'COMMIT')
      await assert.rejects(insert(id), /duplicate key/)
    }
  })

  for (const cut of ['silentAnswer', 'silentCommit'] as const) {
    onProxy(`${cut} on a connection that reads: each read is answered`, async ({ proxy, store }) => {
      await store.createPlant(toPlant({ id: 1n, name: 'n' }))
      proxy.silenceNext(cut, 'findPlant')
      assert.deepEqual(await readPlant(store, 1n), { name: 'n' })
      assert.equal(proxy.cuts, 1)
    })
  }

  test('a silence is also noticed where PostgreSQL does not track what its sessions do', async () => {
    await using parts = await throughProxy({ setting: '%20-ctrack_activities%3Doff' })
    await parts.cutNext('silentAnswer')
    assert.equal(await parts.store.createPlant(toPlant({ id: 1n, name: 'n' })), 'created')
  })

  test('a COMMIT that comes after it was looked up does nothing any more', async () => {
    await using parts = await throughProxy()
    const { proxy, store, direct, cutNext } = parts
    await cutNext('lateCommit')
    assert.equal(await store.createPlant(toPlant({ id: 1n, name: 'n' })), 'created')
    await store.deletePlant(1n)
    proxy.release()
    await proxy.idle()
    assert.equal(proxy.cuts, 1)
    assert.equal(await direct.getPlant(1n), undefined)
  })

  test('a transaction that hangs between its statements is ended by the database, and its change is done again', async () => {
    await using parts = await throughProxy({ changed: { databaseIdleMsMax: 500 } })
    const { proxy, store, direct, cutNext } = parts
    await store.createPlant(toPlant({ id: 1n, name: 'n' }))
    await cutNext('lateCommit')
    await store.replacePlant(toPlant({ id: 1n, name: 'm' }))
    await store.replacePlant(toPlant({ id: 1n, name: 'later' }))
    proxy.release()
    await proxy.idle()
    assert.deepEqual(await readPlant(direct, 1n), { name: 'later' })
  })

  test('the COMMIT of a whole import is also looked up', async () => {
    for (const cut of ['lostAnswer', 'lostCommit'] satisfies Cut[]) {
      await using parts = await throughProxy()
      const { proxy, store, direct } = parts
      const bulk = await store.beginImport({ isWhole: true })
      for (const conflict of ['fail', 'skip'] as const) await bulk.add([toPlant({ id: 1n, name: 'n' })], conflict)
      proxy.cutNext(cut)
      if (cut === 'lostAnswer') await bulk.commit()
      else await rejectsWith(bulk.commit(), 'overloaded')
      assert.equal(proxy.cuts, 1)
      assert.equal((await direct.getPlant(1n)) !== undefined, cut === 'lostAnswer')
      await bulk.end()
    }
  })

  for (const [title, clockMs, sweeperMs, outcome] of [
    ['by a server that paused or whose clock is behind: it is unknown', -600_000, 0, 'storeUnavailable'],
    ['beside a server whose clock is ahead: it is known', 0, 3_600_000, undefined],
  ] as const) {
    test(`a commit is looked up after a sweep, ${title}`, async () => {
      const clock = { ...systemClock, wallMs: () => systemClock.wallMs() + clockMs }
      await using parts = await throughProxy({ clock })
      const { proxy, store, direct, cutNext } = parts
      await store.createPlant(toPlant({ id: 1n, name: 'n' }))
      await cutNext('lostAnswer')
      proxy.holdConnections()
      const replace = store.replacePlant(toPlant({ id: 1n, name: 'mine' })).catch(({ code }) => code)
      await until('it is replaced', async () => (await readPlant(direct, 1n))?.name === 'mine')
      for (const name of ['later', 'last']) await direct.replacePlant(toPlant({ id: 1n, name }))
      await direct.sweepChanges(systemClock.wallMs() + sweeperMs - limits.changesKeptMsMin)
      proxy.takeConnections()
      assert.equal(await replace, outcome)
      assert.deepEqual(await readPlant(direct, 1n), { name: 'last' })
    })
  }

  test('a read waits for a new connection, however long ago an earlier one was lost', async () => {
    let aheadMs = 0
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs }
    await using parts = await throughProxy({ clock })
    for (let losses = 0; losses < 2; losses += 1) {
      parts.proxy.cutAll()
      assert.equal(await readPlant(parts.store, 1n), undefined)
      aheadMs += limits.databaseGraceMs
    }
  })

  test('an outcome that cannot be looked up is answered as unknown', async () => {
    await using parts = await throughProxy({ changed: { databaseCommitMsMax: 1_000 } })
    const { proxy, store, cutNext } = parts
    await cutNext('lostAnswer')
    // It takes no more connections, so that the outcome cannot be looked up.
    proxy.holdConnections()
    const create = store.createPlant(toPlant({ id: 1n, name: 'n' }))
    create.catch(() => {})
    while (proxy.cuts === 0) await nextTurn()
    proxy.close()
    await rejectsWith(create, 'storeUnavailable')
    await rejectsWith(readPlant(store, 1n), 'storeAway')
    // A timer may be a fraction of a millisecond early.
    await until('the store is away', () => !store.isAvailable)
  })
})
