// How long a token that was looked up is trusted, and how many are: by a clock of the test's own, on a real store.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Caller } from '../../src/domain/caller.ts'
import type { Store } from '../../src/domain/store.ts'
import { createAuthenticate } from '../../src/http/authenticate.ts'
import { type Limits, limits as serviceLimits } from '../../src/limits.ts'
import { createToken } from '../../src/serve/new-token.ts'
import { rejectsWith, TestClock } from '../store/suite.ts'
import { makeFolder } from '../support/folder.ts'
import { openTestStore } from '../support/store.ts'

const limits = {
  ...serviceLimits,
  ...{ tokenTrustMs: 500, trustedTokensMax: 2 },
  ...{ jwtTrustMs: 60_000, trustedJwtsMax: 2, trustedJwtCharactersMax: 1_000_000 },
}
const scopes = ['plants:read'] as const

/** A store that counts how often a token is looked up in it. */
function countingStore(store: Store): { readonly store: Store; readonly count: () => number } {
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
    const { store: counted, count } = countingStore(store)
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
    const { store: counted, count } = countingStore(store)
    const authenticate = createAuthenticate(counted, new TestClock(), limits)
    const { secret } = await createToken(store, { name: 'a', scopes })
    for (let blanks = 1; blanks < 1_000; blanks += 1) await authenticate(`bEARER${' '.repeat(blanks)}${secret}`, scopes)
    assert.equal(count(), 1)
  })

  test('is forgotten when there are too many of them', async () => {
    await using folder = await makeFolder()
    await using store = await openTestStore(folder.file('plants.db'))
    const { store: counted, count } = countingStore(store)
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
    assert.equal(authenticate.known(`Bearer ${secret}`, ['plants:write']), undefined)
    clock.wall += 1
    await rejectsWith(use('plants:read'), 'invalidToken')
  })
})

describe('a JWT that was verified', () => {
  const callerOf = (id: string): Caller => ({ id, name: id, scopes, validUntilMs: 1_000_000 })

  /** What takes any JWT for a good one, and which it was asked about. */
  function counting() {
    const verified: string[] = []
    const verify = async (jwt: string): Promise<Caller> => {
      verified.push(jwt)
      return callerOf(jwt)
    }
    return { verify, verified }
  }

  async function withJwts(changed: Partial<Limits>, run: (parts: JwtParts) => Promise<void>) {
    await using folder = await makeFolder()
    await using store = await openTestStore(folder.file('plants.db'))
    const clock = new TestClock()
    clock.wall = 0
    const { verify, verified } = counting()
    const authenticate = createAuthenticate(store, clock, { ...limits, ...changed }, verify)
    await run({ clock, authenticate, verified })
  }

  interface JwtParts {
    readonly clock: TestClock
    readonly authenticate: ReturnType<typeof createAuthenticate>
    readonly verified: readonly string[]
  }

  test('is trusted for as long as the limit says, however it is spelt, and verified again then', () =>
    withJwts({}, async ({ clock, authenticate, verified }) => {
      for (let blanks = 1; blanks < 100; blanks += 1) await authenticate(`bearer${' '.repeat(blanks)}a.b.c`, scopes)
      clock.monotonic += limits.jwtTrustMs - 1
      assert.equal(authenticate.known('Bearer a.b.c', scopes)?.id, 'a.b.c')
      assert.equal(verified.length, 1)
      clock.monotonic += 1
      assert.equal(authenticate.known('Bearer a.b.c', scopes), undefined)
      await authenticate('Bearer a.b.c', scopes)
      assert.equal(verified.length, 2)
    }))

  test('is held to its expiry all the same, to the millisecond', () =>
    withJwts({}, async ({ clock, authenticate, verified }) => {
      clock.wall = 999_999
      await authenticate('Bearer a.b.c', scopes)
      assert.equal(authenticate.known('Bearer a.b.c', scopes)?.id, 'a.b.c')
      clock.wall = 1_000_000
      assert.equal(authenticate.known('Bearer a.b.c', scopes), undefined)
      await rejectsWith((async () => authenticate('Bearer a.b.c', scopes))(), 'invalidToken')
      assert.equal(verified.length, 1)
    }))

  test('is forgotten when there are too many of them, or too long ones', async () => {
    await withJwts({ trustedJwtsMax: 2 }, async ({ authenticate, verified }) => {
      for (const jwt of ['a.b.1', 'a.b.2', 'a.b.1', 'a.b.2']) await authenticate(`Bearer ${jwt}`, scopes)
      assert.equal(verified.length, 2)
      for (const jwt of ['a.b.3', 'a.b.3', 'a.b.1']) await authenticate(`Bearer ${jwt}`, scopes)
      assert.equal(verified.length, 4)
    })
    const long = (character: string): string => `Bearer a.b.${character.repeat(1_000)}`
    await withJwts({ trustedJwtsMax: 9, trustedJwtCharactersMax: 2_500 }, async ({ authenticate, verified }) => {
      for (const character of ['1', '2', '1', '2']) await authenticate(long(character), scopes)
      assert.equal(verified.length, 2)
      for (const character of ['3', '3', '1', '3', '1']) await authenticate(long(character), scopes)
      assert.equal(verified.length, 4)
    })
  })

  test('does not end the trust in our own tokens, nor they that in it', async () => {
    await using folder = await makeFolder()
    await using store = await openTestStore(folder.file('plants.db'))
    const { store: counted, count } = countingStore(store)
    const { verify, verified } = counting()
    const clock = new TestClock()
    clock.wall = 0
    const authenticate = createAuthenticate(counted, clock, { ...limits, trustedTokensMax: 1 }, verify)
    const { secret } = await createToken(store, { name: 'a', scopes })
    for (const token of [secret, 'a.b.1', secret, 'a.b.2', 'a.b.3', secret, 'a.b.3', 'a.b.1']) {
      await authenticate(`Bearer ${token}`, scopes)
    }
    assert.deepEqual([count(), verified], [1, ['a.b.1', 'a.b.2', 'a.b.3', 'a.b.1']])
  })

  test('is refused unseen where none is accepted, or when it has no form of one', async () => {
    await using folder = await makeFolder()
    await using store = await openTestStore(folder.file('plants.db'))
    const without = createAuthenticate(store, new TestClock(), limits)
    await rejectsWith((async () => without('Bearer a.b.c', scopes))(), 'invalidToken')
    await withJwts({}, async ({ authenticate, verified }) => {
      for (const odd of ['a.b', 'a.b.', 'a.b.c.d.e', 'a.b.c=', 'a.b+.c', '.b.c']) {
        await rejectsWith((async () => authenticate(`Bearer ${odd}`, scopes))(), 'invalidToken')
      }
      assert.deepEqual(verified, [])
    })
  })
})
