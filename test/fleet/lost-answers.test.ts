// The answer to a COMMIT is lost: what became of it is found out before anything is answered.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError, type ErrorCode } from '../../src/domain/errors.ts'
import { startDatabase } from '../support/postgres.ts'
import { type Cut, CuttingProxy } from '../support/proxy.ts'
import { openTestStore } from '../support/store.ts'

describe('a lost answer to COMMIT', async () => {
  const database = await startDatabase()
  after(() => database[Symbol.asyncDispose]())

  const throughProxy = async () => {
    const url = new URL(await database.makePlace())
    const proxy = await CuttingProxy.start(Number(url.port))
    const direct = await openTestStore(url.href)
    url.port = String(proxy.port)
    const store = await openTestStore(url.href)
    let settled = 1_000n
    return {
      proxy,
      store,
      direct,
      /** Cuts the next transaction, but not that by which a server registers for a session. */
      cutNext: async (cut: Cut) => {
        settled += 1n
        await store.createPlant({ id: settled, name: 'settled' })
        proxy.cutNext(cut)
      },
      [Symbol.asyncDispose]: async () => {
        await store.close()
        await direct.close()
        await proxy[Symbol.asyncDispose]()
      },
    }
  }

  for (const cut of ['lostAnswer', 'lostCommit'] satisfies Cut[]) {
    test(`${cut}: each change is done once and answered for`, async () => {
      await using parts = await throughProxy()
      const { proxy, store, direct, cutNext } = parts
      await direct.createPlant({ id: 1n, name: 'taken' })
      await cutNext(cut)
      const both = await Promise.allSettled([
        store.createPlant({ id: 1n, name: 'mine' }),
        store.createPlant({ id: 2n, name: 'mine' }),
      ])
      assert.equal((both[0] as PromiseRejectedResult).reason.code, 'idTaken')
      assert.deepEqual(both[1], { status: 'fulfilled', value: 'created' })
      await cutNext(cut)
      const key = { callerId: 'tok_1', key: 'k' }
      assert.equal(await store.createPlant({ id: 3n, name: 'keyed' }, key), 'created')
      await cutNext(cut)
      await store.replacePlant({ id: 2n, name: 'replaced' })
      await cutNext(cut)
      await store.deletePlant(3n)
      assert.equal(proxy.cuts, 4)
      assert.equal(await direct.createPlant({ id: 3n, name: 'keyed' }, key), 'replayed')
      for (const reader of [store, direct]) {
        assert.deepEqual(await reader.getPlant(1n), { name: 'taken' })
        assert.deepEqual(await reader.getPlant(2n), { name: 'replaced' })
        assert.equal(await reader.getPlant(3n), undefined)
      }
    })
  }

  test('a COMMIT that comes after it was looked up does nothing any more', async () => {
    await using parts = await throughProxy()
    const { proxy, store, direct, cutNext } = parts
    await cutNext('lateCommit')
    assert.equal(await store.createPlant({ id: 1n, name: 'n' }), 'created')
    await store.deletePlant(1n)
    proxy.release()
    await proxy.idle()
    assert.equal(proxy.cuts, 1)
    assert.equal(await direct.getPlant(1n), undefined)
  })

  test('a transaction that hangs between its statements is answered as unknown, and others go on', async () => {
    await using parts = await throughProxy()
    const { proxy, store, cutNext } = parts
    await store.createPlant({ id: 1n, name: 'n' })
    await cutNext('lateCommit')
    await rejects(store.replacePlant({ id: 1n, name: 'm' }), 'storeUnavailable')
    assert.equal(await store.createPlant({ id: 2n, name: 'n' }), 'created')
    proxy.release()
    await proxy.idle()
    assert.deepEqual(await store.getPlant(1n), { name: 'm' })
  })

  test('what nobody can find out is answered as unknown', async () => {
    await using parts = await throughProxy()
    const { proxy, store, cutNext } = parts
    await cutNext('lostAnswer')
    const create = store.createPlant({ id: 1n, name: 'n' })
    create.catch(() => {})
    while (proxy.cuts === 0) await nextTurn()
    // It takes no more connections, so that the outcome cannot be looked up.
    proxy.close()
    await rejects(create, 'storeUnavailable')
    await rejects(store.getPlant(1n), 'storeAway')
    assert.equal(store.isAvailable, false)
  })
})

function rejects(promise: Promise<unknown>, code: ErrorCode): Promise<void> {
  return assert.rejects(promise, (error) => error instanceof AppError && error.code === code)
}
