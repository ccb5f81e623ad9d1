// How long a token that was looked up is trusted, and how many are: by a clock of the test's own, on a real store.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createToken } from '../../src/cli/token.ts'
import type { Store } from '../../src/domain/store.ts'
import { createAuthenticate } from '../../src/http/authenticate.ts'
import { rejectsWith, TestClock } from '../store/suite.ts'
import { makeFolder } from '../support/folder.ts'
import { openTestStore } from '../support/store.ts'

const limits = { tokenTrustMs: 500, trustedTokensMax: 2 }
const scopes = ['plants:read'] as const

/** A store that counts how often a token is looked up in it. */
function counting(store: Store): { readonly store: Store; readonly count: () => number } {
  let lookups = 0
  const findToken: Store['findToken'] = (hash) => {
    lookups += 1
    return store.findToken(hash)
  }
  const get = (target: Store, name: string | symbol): unknown => {
    if (name === 'findToken') return findToken
    const value = Reflect.get(target, name, target)
    return typeof value === 'function' ? value.bind(target) : value
  }
  return { store: new Proxy(store, { get }), count: () => lookups }
}

describe('a token that was looked up', () => {
  test('is trusted for as long as the limit says, and looked up again then', async () => {
    await using folder = await makeFolder()
    await using store = await openTestStore(folder.file('plants.db'))
    const clock = new TestClock()
    const { store: counted, count } = counting(store)
    const authenticate = createAuthenticate(counted, clock, limits)
    const { id, secret } = await createToken(store, { name: 'a', scopes })
    const use = async () => authenticate(`Bearer ${secret}`, scopes)
    await use()
    await store.revokeToken(id, 0)
    clock.monotonic += limits.tokenTrustMs - 1
    assert.equal((await use()).id, id)
    assert.equal(count(), 1)
    clock.monotonic += 1
    await rejectsWith(use(), 'invalidToken')
    assert.equal(count(), 2)
  })

  test('is one token, in however many ways its header is spelt', async () => {
    await using folder = await makeFolder()
    await using store = await openTestStore(folder.file('plants.db'))
    const { store: counted, count } = counting(store)
    const authenticate = createAuthenticate(counted, new TestClock(), limits)
    const { secret } = await createToken(store, { name: 'a', scopes })
    for (let blanks = 1; blanks < 1_000; blanks += 1) await authenticate(`bEARER${' '.repeat(blanks)}${secret}`, scopes)
    assert.equal(count(), 1)
  })

  test('is forgotten when there are too many of them', async () => {
    await using folder = await makeFolder()
    await using store = await openTestStore(folder.file('plants.db'))
    const { store: counted, count } = counting(store)
    const authenticate = createAuthenticate(counted, new TestClock(), limits)
    const tokens = await Promise.all(['a', 'b', 'c'].map((name) => createToken(store, { name, scopes })))
    const use = async (index: number) => authenticate(`Bearer ${tokens[index]?.secret}`, scopes)
    for (const index of [0, 1, 0, 1]) await use(index)
    assert.equal(count(), 2)
    for (const index of [2, 2, 0]) await use(index)
    assert.equal(count(), 4)
  })

  test('is held to its expiry and its scopes all the same', async () => {
    await using folder = await makeFolder()
    await using store = await openTestStore(folder.file('plants.db'))
    const clock = new TestClock()
    const authenticate = createAuthenticate(store, clock, limits)
    const { secret, expiresAtMs } = await createToken(store, { name: 'a', scopes, lifetimeMs: 1_000 })
    const use = async (...needed: Parameters<typeof authenticate>[1]) => authenticate(`Bearer ${secret}`, needed)
    clock.wall = Number(expiresAtMs) - 1
    await use('plants:read')
    await rejectsWith(use('plants:write'), 'insufficientScope')
    clock.wall += 1
    await rejectsWith(use('plants:read'), 'invalidToken')
  })
})
