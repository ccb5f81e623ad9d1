// Stops that fail no request: behind the nginx and the HAProxy of deploy/, while clients go on.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Database, startDatabase } from '../support/postgres.ts'
import { proxyNames } from './files.ts'
import { missingFor, type StopsParts, type StopsReport, stopServers } from './stops.ts'

const stops = 4
/**
 * Beside other tests a machine may be too busy for a server to look at every connection before it closes its listener:
 * docs/decisions/0021-production.md. `npm run torture -- stops`, which runs alone, holds it to none.
 */
const shareFailedMax = 0.001
/** A kill fails the requests that are under way and cannot be sent again. How many these are is chance. */
const kills = 2
const killRoundsMax = 4

describe('stops behind a proxy', () => {
  let database: Database
  before(async () => {
    database = await startDatabase()
  })
  after(() => database[Symbol.asyncDispose]())
  const stop = async (parts: Omit<StopsParts, 'store'>): Promise<StopsReport> =>
    stopServers({ ...parts, store: await database.makePlace() })
  const assertFails = async (parts: Omit<StopsParts, 'store'>): Promise<void> => {
    for (let round = 0; round < killRoundsMax; round += 1) {
      const { requests, failed } = await stop(parts)
      if (failed > requests * shareFailedMax) return
    }
    assert.fail(`no more failed than may in a stop, ${killRoundsMax} times`)
  }

  for (const proxy of proxyNames) {
    const skip = missingFor(proxy) ?? false
    test(`fail no request behind ${proxy}, with clients that create, read, list, replace and delete`, {
      skip,
    }, async () => {
      const { requests, failed, failures } = await stop({ proxy, stops })
      assert.ok(failed <= requests * shareFailedMax, JSON.stringify(failures))
      assert.ok(requests > 1_000, `${requests} requests`)
    })

    test(`are told from kills behind ${proxy}`, { skip }, async () => {
      await assertFails({ proxy, stops: kills, signal: 'SIGKILL' })
    })
  }

  test('need an nginx that asks the next server', { skip: missingFor('nginx') ?? false }, async () => {
    const change = { 'proxy_next_upstream error;': 'proxy_next_upstream off;' }
    await assertFails({ proxy: 'nginx', stops: kills, change })
  })
})
