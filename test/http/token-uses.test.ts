// The last use of a token is recorded once a day, in the background, and never delays or fails a request.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { allScopes } from '../../src/domain/caller.ts'
import { AppError } from '../../src/domain/errors.ts'
import type { Store } from '../../src/domain/store.ts'
import { dateOf, dayOf } from '../../src/domain/token.ts'
import { TokenUses } from '../../src/http/token-uses.ts'
import { createToken } from '../../src/serve/new-token.ts'
import { TestClock } from '../store/suite.ts'
import { describeOnEngines } from '../support/engines.ts'
import { runHere } from '../support/program.ts'
import { serveHere } from '../support/service.ts'
import { addToken, openTestStore, revokeToken } from '../support/store.ts'
import { until } from '../support/time.ts'

const dayMs = 86_400_000
const today = (): string => dateOf(dayOf(Date.now()))

/** The day of the last use of each token, by its name. */
const lastUses = async (store: string): Promise<Record<string, string | null>> => {
  const { stdout } = await runHere(['token', 'list', '--json', '--store', store])
  const tokens: readonly { readonly name: string; readonly lastUsed: string | null }[] = JSON.parse(stdout)
  return Object.fromEntries(tokens.map(({ name, lastUsed }) => [name, lastUsed]))
}
const get = async (url: string, secret: string): Promise<number> =>
  (await fetch(`${url}/plants`, { headers: { Authorization: `Bearer ${secret}` } })).status

describeOnEngines('the last use of a token', ({ makePlace }) => {
  test('is recorded some time after a request; unused and unusable tokens stay unchanged', async () => {
    await using place = await makePlace()
    const { secret: used } = await addToken(place.store, 'used')
    const { secret: reader } = await addToken(place.store, 'reader', ['plants:read'])
    const { id, secret: revoked } = await addToken(place.store, 'revoked')
    await addToken(place.store, 'unused')
    await revokeToken(place.store, id)
    await using server = await serveHere(place.store, { tokenUsesMs: 100 })
    const statuses = [used, reader, revoked].map((secret) => get(server.url, secret))
    assert.deepEqual(await Promise.all(statuses), [200, 200, 401])
    for (const name of ['used', 'reader']) {
      await until(`the use of ${name} is noted`, async () => (await lastUses(place.store))[name] === today())
    }
    const { unused, revoked: never } = await lastUses(place.store)
    assert.deepEqual([unused, never], [null, null])
    const { stdout } = await runHere(['token', 'list', '--store', place.store])
    assert.match(stdout, new RegExp(`LAST USED +NAME$[\\s\\S]* ${today()} +used$[\\s\\S]* never +unused$`, 'm'))
  })

  test('that is not recorded yet is recorded when the server stops', async () => {
    await using place = await makePlace()
    const { secret } = await addToken(place.store, 'short')
    await using server = await serveHere(place.store)
    assert.equal(await get(server.url, secret), 200)
    assert.equal((await lastUses(place.store))['short'], null)
    await server.stop()
    assert.equal((await lastUses(place.store))['short'], today())
  })

  test('is written once a day, however often a token is used, and by whichever server', async () => {
    await using place = await makePlace()
    await using store = await openTestStore(place.store)
    const { hash } = await createToken(store, { name: 'busy', scopes: allScopes })
    const clock = new TestClock()
    const writes: number[] = []
    const noteTokenUses: Store['noteTokenUses'] = (days) => {
      writes.push(...days.values())
      return store.noteTokenUses(days)
    }
    const watched = { findToken: (hash: Uint8Array) => store.findToken(hash), noteTokenUses }
    const servers = [1, 2].map(() => new TokenUses(watched, clock, { tokenUsesMs: 1, trustedTokensMax: 10 }))
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
    const uses = new TokenUses(full, clock, { tokenUsesMs: 1, trustedTokensMax: 10 })
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
    const uses = new TokenUses(store, clock, { tokenUsesMs: 60_000, trustedTokensMax: 2 })
    await uses.findToken(found.hash)
    for (const id of ['tok_b', 'tok_c', 'tok_d']) {
      found = { ...found, id, expiresAtMs: clock.wall + 1 }
      await uses.findToken(found.hash)
    }
    await uses.stop()
    assert.deepEqual(noted, ['tok_b', 'tok_c'])
  })
})
