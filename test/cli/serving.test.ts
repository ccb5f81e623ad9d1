// A server put together and started, without its process.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { defaultConfig } from '../../src/config.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { systemClock } from '../../src/domain/clock.ts'
import type { Store } from '../../src/domain/store.ts'
import { limits } from '../../src/limits.ts'
import { startServer } from '../../src/serve/running-server.ts'
import { sqliteEngine } from '../../src/store/sqlite/engine.ts'
import { makeFolder } from '../support/folder.ts'
import { until } from '../support/time.ts'

test('a server that has ended is kept by nothing, and neither is its store', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage: () => void = runInNewContext('gc')
  await using folder = await makeFolder()

  async function serveOnce(): Promise<WeakRef<Store>> {
    const observe = (): void => {}
    const options = { exclusive: true, mayMake: true, clock: systemClock, limits, environment: {}, observe }
    const store = await sqliteEngine.open(folder.file('plants.db'), options)
    const stopping = new AbortController()
    const { url, beReady, ended } = await startServer({
      ...{ config: { ...defaultConfig, port: 0 }, store, observe, limits },
      contract: loadContract(),
      stopping: stopping.signal,
      descriptorsMax: 1_000,
    })
    beReady()
    assert.equal((await fetch(`${url}/readyz`)).status, 200)
    stopping.abort()
    await ended
    await store.close()
    return new WeakRef(store)
  }

  const left = await serveOnce()
  await until('nothing keeps the store', () => {
    collectGarbage()
    return left.deref() === undefined
  })
})
