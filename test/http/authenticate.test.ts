// Look-ups of credentials: how long they are trusted, and how many, by a simulated clock, for tokens of a real store and
// for JWTs. The last use of a token is recorded once a day, in the background, and never delays or fails a request.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { allScopes, type Caller, type Scope } from '../../src/domain/caller.ts'
import { AppError } from '../../src/domain/errors.ts'
import type { Store } from '../../src/domain/store.ts'
import { dateOf, dayOf } from '../../src/domain/token.ts'
import { createAuthenticate, type GuardLookUp, recordTokenUses } from '../../src/http/authenticate.ts'
import { type Limits, limits as serviceLimits } from '../../src/limits.ts'
import { createToken } from '../../src/serve/new-token.ts'
import { rejectsWith, TestClock } from '../store/suite.ts'
import { describeOnEngines } from '../support/engines.ts'
import { makeFolder } from '../support/folder.ts'
import { runHere } from '../support/program.ts'
import { listStatus, serveHere } from '../support/service.ts'
import { addToken, openTestStore } from '../support/store.ts'
import { until } from '../support/time.ts'

const limits: Limits = {
  ...serviceLimits,
  ...{ tokenTrustMs: 500, trustedTokensMax: 2 },
  ...{ jwtTrustMs: 500, trustedJwtsMax: 2, trustedJwtCharactersMax: 1_000_000 },
}
const scopes = ['plants:read'] as const

const cleanup = new AsyncDisposableStack()
const folder = cleanup.use(await makeFolder())
const store = cleanup.use(await openTestStore(folder.file('plants.db')))

after(() => cleanup.disposeAsync())

/** The store, and what takes any JWT for a good one; counts what each is asked for. */
function open(changed: Partial<Limits> = {}) {
  const clock = new TestClock()
  const asked: string[] = []
  const findToken: typeof store.findToken = async (hash) => {
    const token = await store.findToken(hash)
    asked.push(token?.name ?? '')
    return token
  }
  const verify = async (jwt: string): Promise<Caller> => {
    asked.push(jwt)
    return { id: jwt, name: jwt, scopes, validUntilMs: clock.wallMs() + 1_000 }
  }
  return { clock, asked, authenticate: createAuthenticate({ findToken }, clock, { ...limits, ...changed }, verify) }
}

for (const kind of ['token', 'JWT']) {
  /** Makes a credential that is valid for a second. */
  const make = async (clock: TestClock): Promise<string> => {
    if (kind === 'JWT') return `a.b.${Math.random()}`.replace('0.', '')
    const { secret, expiresAtMs = 0 } = await createToken(store, { name: 'token', scopes, lifetimeMs: 1_000 })
    clock.wall = expiresAtMs - 1_000
    return secret
  }

  describe(`a ${kind} that was looked up`, () => {
    test('is trusted for as long as the limit says, however it is spelt, and looked up again then', async () => {
      const { authenticate, asked, clock } = open()
      const credential = await make(clock)
      for (let blanks = 1; blanks < 100; blanks += 1) {
        await authenticate(`bEARER${' '.repeat(blanks)}${credential}`, scopes)
      }
      clock.monotonic += 499
      assert.ok(!(authenticate(`Bearer ${credential}`, scopes) instanceof Promise))
      assert.equal(asked.length, 1)
      clock.monotonic += 1
      await authenticate(`Bearer ${credential}`, scopes)
      clock.monotonic += 499
      await authenticate(`Bearer ${credential}`, scopes)
      assert.equal(asked.length, 2)
    })

    test('is held to its expiry, to the millisecond, and to its scopes all the same', async () => {
      const { authenticate, asked, clock } = open()
      const header = `Bearer ${await make(clock)}`
      const use = async (scope: Scope = 'plants:read') => authenticate(header, [scope])
      await use()
      clock.wall += 999
      await use()
      await rejectsWith(use('plants:write'), 'insufficientScope')
      clock.wall += 1
      await rejectsWith(use(), 'invalidToken')
      assert.equal(asked.length, 1)
    })

    test('is forgotten when there are too many of them', async () => {
      const { authenticate, asked, clock } = open()
      const credentials = [await make(clock), await make(clock), await make(clock)]
      // However long that took, none of them has expired.
      clock.wall = 0
      const use = async (index: number) => authenticate(`Bearer ${credentials[index]}`, scopes)
      for (const index of [0, 1, 0, 1]) await use(index)
      assert.equal(asked.length, 2)
      for (const index of [2, 2, 0]) await use(index)
      assert.equal(asked.length, 4)
    })
  })
}

describe('a guard of look-ups', () => {
  const tooMany: GuardLookUp = async () => {
    throw new AppError('rateLimited', 'too many')
  }

  test('is asked about tokens that were not valid when they were looked up last', async () => {
    const { authenticate, asked } = open({ tokenTrustMs: 0 })
    const { id, secret } = await createToken(store, { name: 'a', scopes })
    const use = async (guard: GuardLookUp) => authenticate(`Bearer ${secret}`, scopes, guard)
    await rejectsWith(use(tooMany), 'rateLimited')
    assert.equal(asked.length, 0)
    await use((lookUp) => lookUp())
    await Promise.all([use(tooMany), use(tooMany)])
    assert.equal(asked.length, 3)
    await store.revokeToken(id, 0)
    await rejectsWith(use(tooMany), 'invalidToken')
    await rejectsWith(use(tooMany), 'rateLimited')
    assert.equal(asked.length, 4)
  })

  test('is asked again about tokens that were used before as many others as are remembered', async () => {
    const { authenticate } = open({ tokenTrustMs: 0 })
    const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((name) => createToken(store, { name, scopes })))
    const use = async (token: typeof a, guard: GuardLookUp) => authenticate(`Bearer ${token?.secret}`, scopes, guard)
    for (const token of [a, b, a, c, c]) await use(token, (lookUp) => lookUp())
    for (const token of [a, c]) await use(token, tooMany)
    await rejectsWith(use(b, tooMany), 'rateLimited')
  })
})

describe('a JWT', () => {
  test('is verified once for all requests that come with it meanwhile', async () => {
    const { authenticate, asked } = open({ jwtTrustMs: 0 })
    await Promise.all(Array.from({ length: 10 }, () => authenticate('Bearer a.b.c', scopes)))
    assert.equal(asked.length, 1)
    await authenticate('Bearer a.b.c', scopes)
    assert.equal(asked.length, 2)
  })

  test('is forgotten when there are too long ones', async () => {
    const { authenticate, asked } = open({ trustedJwtsMax: 9, trustedJwtCharactersMax: 2_500 })
    const use = (character: string) => authenticate(`Bearer a.b.${character.repeat(1_000)}`, scopes)
    for (const character of ['1', '2', '1', '2']) await use(character)
    assert.equal(asked.length, 2)
    for (const character of ['3', '3', '1', '3', '1']) await use(character)
    assert.equal(asked.length, 4)
  })

  test('does not end the trust in our own tokens, nor they that in it', async () => {
    const { authenticate, asked } = open({ trustedTokensMax: 1 })
    const { secret } = await createToken(store, { name: 'ours', scopes })
    for (const token of [secret, 'a.b.1', secret, 'a.b.2', 'a.b.3', secret, 'a.b.3', 'a.b.1']) {
      await authenticate(`Bearer ${token}`, scopes)
    }
    assert.deepEqual(asked, ['ours', 'a.b.1', 'a.b.2', 'a.b.3', 'a.b.1'])
  })

  test('is refused unseen where none is accepted, or when it has no form of one', async () => {
    const { clock, authenticate, asked } = open()
    const without = createAuthenticate(store, clock, limits)
    assert.throws(() => without('Bearer a.b.c', scopes), { code: 'invalidToken' })
    for (const odd of ['a.b', 'a.b.', 'a.b.c.d.e', 'a.b.c=', 'a.b+.c', '.b.c']) {
      assert.throws(() => authenticate(`Bearer ${odd}`, scopes), { code: 'invalidToken' })
    }
    assert.deepEqual(asked, [])
  })
})

const dayMs = 86_400_000
const today = (): number => dayOf(Date.now())

/** The day of the last use of each token, by its name. */
const lastUses = async (store: Store): Promise<Record<string, number | undefined>> =>
  Object.fromEntries((await store.listTokens()).map(({ name, lastUsedDay }) => [name, lastUsedDay]))

describeOnEngines('the last use of a token', ({ onPlace }) => {
  onPlace('is recorded some time after a request; unused and unusable tokens stay unchanged', async (place) => {
    await using server = await serveHere(place.store, { tokenUsesMs: 100 })
    await using store = await openTestStore(place.store, { exclusive: false })
    const make = (name: string, scopes: readonly Scope[]) => createToken(store, { name, scopes })
    const used = [await make('used', allScopes), await make('reader', scopes)]
    const revoked = await make('revoked', allScopes)
    await make('unused', allScopes)
    await store.revokeToken(revoked.id, 0)
    const statuses = [...used, revoked].map(({ secret }) => listStatus(server.url, secret))
    assert.deepEqual(await Promise.all(statuses), [200, 200, 401])
    for (const name of ['used', 'reader'])
      await until(`the use of ${name} is noted`, async () => (await lastUses(store))[name] === today())
    const { unused, revoked: never } = await lastUses(store)
    assert.deepEqual([unused, never], [undefined, undefined])
    const { stdout } = await runHere(['token', 'list', '--store', place.store])
    assert.match(stdout, new RegExp(`LAST USED +NAME$[\\s\\S]* ${dateOf(today())} +used$[\\s\\S]* never +unused$`, 'm'))
  })

  onPlace('that is not recorded yet is recorded when the server stops', async (place) => {
    const { secret } = await addToken(place.store, 'short')
    await using server = await serveHere(place.store)
    await using store = await openTestStore(place.store, { exclusive: false })
    assert.equal(await listStatus(server.url, secret), 200)
    assert.equal((await lastUses(store))['short'], undefined)
    await server.stop()
    assert.equal((await lastUses(store))['short'], today())
  })

  onPlace('is written once a day, however often a token is used, and by whichever server', async (place) => {
    await using store = await openTestStore(place.store)
    const { hash } = await createToken(store, { name: 'busy', scopes: allScopes })
    const clock = new TestClock()
    const writes: number[] = []
    const noteTokenUses: Store['noteTokenUses'] = (days) => {
      writes.push(...days.values())
      return store.noteTokenUses(days)
    }
    const watched = { findToken: (hash: Uint8Array) => store.findToken(hash), noteTokenUses }
    const servers = [1, 2].map(() => recordTokenUses(watched, clock, { tokenUsesMs: 1, trustedTokensMax: 10 }))
    const noted = async (): Promise<number | undefined> => (await store.listTokens())[0]?.lastUsedDay
    for (const day of [20_000, 20_001, 20_002]) {
      clock.wall = day * dayMs
      await servers[0]?.findToken(hash)
      await until('it is noted', async () => (await noted()) === day)
      for (let count = 0; count < 50; count += 1) {
        clock.wall += dayMs / 100
        for (const server of servers) await server.findToken(hash)
      }
    }
    // A server whose clock is behind does not put the day back.
    clock.wall = 20_000 * dayMs
    await servers[1]?.findToken(hash)
    await Promise.all(servers.map((server) => server.stop()))
    assert.deepEqual([writes, await noted()], [[20_000, 20_001, 20_002], 20_002])
  })
})

describe('the last use of a token', () => {
  test('that the store cannot record fails no look-up, and is retried', async () => {
    const clock = new TestClock()
    const token = { id: 'tok_a', hash: Buffer.alloc(32), name: 'a', scopes: allScopes, createdAtMs: 0 }
    let tries = 0
    const full = {
      findToken: async () => token,
      noteTokenUses: async () => {
        tries += 1
        throw tries % 2 === 0 ? new AppError('storeFull', 'full') : new Error('the store could not do noteTokenUses')
      },
    }
    const uses = recordTokenUses(full, clock, { tokenUsesMs: 1, trustedTokensMax: 10 })
    await until('it is tried again and again', async () => {
      assert.equal(await uses.findToken(token.hash), token)
      return tries >= 5
    })
    await uses.stop()
    const triesAtStop = tries
    await uses.findToken(token.hash)
    await uses.stop()
    assert.equal(tries, triesAtStop)
  })

  test('is that of valid tokens, and of no more at once than are remembered', async () => {
    const clock = new TestClock()
    const noted: string[] = []
    let found = { id: 'tok_a', hash: Buffer.alloc(32), name: 'a', scopes: allScopes, createdAtMs: 0, expiresAtMs: 1 }
    const store = {
      findToken: async () => found,
      noteTokenUses: async (days: ReadonlyMap<string, number>) => {
        noted.push(...days.keys())
      },
    }
    const uses = recordTokenUses(store, clock, { tokenUsesMs: 60_000, trustedTokensMax: 2 })
    await uses.findToken(found.hash)
    for (const id of ['tok_b', 'tok_c', 'tok_d']) {
      found = { ...found, id, expiresAtMs: clock.wall + 1 }
      await uses.findToken(found.hash)
    }
    await uses.stop()
    assert.deepEqual(noted, ['tok_b', 'tok_c'])
  })
})
