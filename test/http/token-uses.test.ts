// The last use of a token is recorded once a day, in the background, and never delays or fails a request.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { allScopes } from '../../src/domain/caller.ts'
import { AppError } from '../../src/domain/errors.ts'
import { dateOf, dayOf } from '../../src/domain/token.ts'
import { TokenUses } from '../../src/http/token-uses.ts'
import { createToken } from '../../src/serve/new-token.ts'
import { describeOnEngines } from '../support/engines.ts'
import { runHere } from '../support/program.ts'
import { serveHere } from '../support/service.ts'
import { openTestStore } from '../support/store.ts'
import { until } from '../support/time.ts'

const dayMs = 86_400_000
const today = (): string => dateOf(dayOf(Date.now()))

interface Listed {
  readonly name: string
  readonly lastUsed: string | null
}

const list = async (store: string): Promise<readonly Listed[]> =>
  JSON.parse((await runHere(['token', 'list', '--json', '--store', store])).stdout)
const lastUse = async (store: string, name: string): Promise<string | null | undefined> =>
  (await list(store)).find((each) => each.name === name)?.lastUsed
const get = async (url: string, secret: string, path = '/plants'): Promise<number> =>
  (await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${secret}` } })).status

describeOnEngines('the last use of a token', ({ makePlace }) => {
  test('is recorded some time after a request; unused and unusable tokens stay unchanged', async () => {
    await using place = await makePlace()
    const secrets = new Map<string, string>()
    for (const name of ['used', 'unused', 'revoked', 'reader']) {
      const scope = name === 'reader' ? 'plants:read' : 'plants:read,plants:write'
      const args = ['token', 'create', '--name', name, '--scope', scope, '--store', place.store]
      secrets.set(name, (await runHere(args)).stdout.trim())
    }
    const tokens = JSON.parse((await runHere(['token', 'list', '--json', '--store', place.store])).stdout)
    const { id } = tokens.find(({ name }: Listed) => name === 'revoked')
    await runHere(['token', 'revoke', id, '--store', place.store])
    await using server = await serveHere(place.store, { tokenUsesMs: 100 })
    assert.equal(await get(server.url, secrets.get('used') ?? ''), 200)
    assert.equal(await get(server.url, secrets.get('reader') ?? ''), 200)
    assert.equal(await get(server.url, secrets.get('revoked') ?? ''), 401)
    await until('the use is noted', async () => (await lastUse(place.store, 'used')) === today())
    await until('and the other', async () => (await lastUse(place.store, 'reader')) === today())
    assert.deepEqual([await lastUse(place.store, 'unused'), await lastUse(place.store, 'revoked')], [null, null])
    const { stdout } = await runHere(['token', 'list', '--store', place.store])
    assert.match(stdout, new RegExp(`LAST USED +NAME$[\\s\\S]* ${today()} +used$`, 'm'))
    assert.match(stdout, / never +unused$/m)
  })

  test('that is not recorded yet is recorded when the server stops', async () => {
    await using place = await makePlace()
    const { stdout } = await runHere(['token', 'create', '--name', 'short', '--store', place.store])
    await using server = await serveHere(place.store)
    assert.equal(await get(server.url, stdout.trim()), 200)
    assert.equal(await lastUse(place.store, 'short'), null)
    await server.stop()
    assert.equal(await lastUse(place.store, 'short'), today())
  })

  test('is written once a day, however often a token is used, and by whichever server', async () => {
    await using place = await makePlace()
    await using store = await openTestStore(place.store)
    const { hash } = await createToken(store, { name: 'busy', scopes: allScopes })
    const clock = new DayClock()
    const writes: number[] = []
    const watched = new Proxy(store, {
      get: (target, name) => {
        if (name !== 'noteTokenUses') return Reflect.get(target, name).bind(target)
        return (days: ReadonlyMap<string, number>) => {
          writes.push(...days.values())
          return target.noteTokenUses(days)
        }
      },
    })
    const servers = [1, 2].map(() => new TokenUses(watched, clock, { tokenUsesMs: 1, trustedTokensMax: 10 }))
    const noted = async (): Promise<number | undefined> => (await store.listTokens())[0]?.lastUsedDay
    for (const day of [20_000, 20_001, 20_002]) {
      clock.ms = day * dayMs
      await servers[0]?.findToken(hash)
      await until('it is noted', async () => (await noted()) === day)
      for (let count = 0; count < 50; count += 1) {
        clock.ms += dayMs / 100
        for (const server of servers) await server.findToken(hash)
      }
    }
    // A server whose clock is behind does not put the day back.
    clock.ms = 20_000 * dayMs
    await servers[1]?.findToken(hash)
    await Promise.all(servers.map((server) => server.stop()))
    assert.deepEqual([writes, await noted()], [[20_000, 20_001, 20_002], 20_002])
  })
})

describe('the last use of a token', () => {
  test('that the store cannot record fails no look-up, and is retried', async () => {
    const clock = new DayClock()
    const token = { id: 'tok_a', hash: Buffer.alloc(32), name: 'a', scopes: allScopes, createdAtMs: 0 }
    let tries = 0
    const failures = [new AppError('storeFull', 'full'), new Error('the store could not do noteTokenUses')]
    const full = {
      findToken: async () => token,
      noteTokenUses: async () => {
        tries += 1
        const failure = failures[tries % 2]
        if (failure !== undefined) throw failure
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
    const clock = new DayClock()
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
      found = { ...found, id, expiresAtMs: clock.ms + 1 }
      await uses.findToken(found.hash)
    }
    await uses.stop()
    assert.deepEqual(noted, ['tok_b', 'tok_c'])
  })
})

class DayClock {
  ms = 20_000 * dayMs
  wallMs(): number {
    return this.ms
  }
  monotonicMs(): number {
    return this.ms
  }
}
