// A server started in the test's own process, and its notifications to systemd.

import assert from 'node:assert/strict'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { defaultConfig } from '../../src/config.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { systemClock } from '../../src/domain/clock.ts'
import type { Store } from '../../src/domain/store.ts'
import { limits } from '../../src/limits.ts'
import { startServer } from '../../src/serve/running-server.ts'
import { keepAlive } from '../../src/serve/systemd.ts'
import { sqliteEngine } from '../../src/store/sqlite/engine.ts'
import { type Folder, makeFolder, onFolder } from '../support/folder.ts'
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

/** A `systemd-notify` that keeps what it is given in a file. */
async function makeNotify(folder: Folder): Promise<Record<string, string>> {
  await writeFile(folder.file('systemd-notify'), '#!/bin/sh\necho "$1" >> "$NOTIFY_SOCKET"\n')
  await chmod(folder.file('systemd-notify'), 0o755)
  return { PATH: folder.path, WATCHDOG_USEC: '90000' }
}

onFolder('systemd is notified while the store answers, even with an error', async (folder) => {
  const environment = await makeNotify(folder)
  const stores = {
    working: () => Promise.resolve(),
    refusing: () => Promise.allSettled([Promise.reject(new Error('the database cannot be reached'))]),
    hanging: () => new Promise(() => {}),
  }
  const told = (name: string): Promise<string> => readFile(folder.file(name), 'utf8').catch(() => '')
  const warnings: string[] = []
  using stack = new DisposableStack()
  for (const [name, ask] of Object.entries(stores)) {
    const own = { ...environment, NOTIFY_SOCKET: folder.file(name) }
    // One that is under way at the end of the test fails when its folder is gone.
    stack.use(keepAlive(ask, own, (message) => warnings.push(message)))
  }
  for (const name of ['working', 'refusing'])
    await until(`${name} is told of thrice`, async () => (await told(name)).startsWith('WATCHDOG=1\n'.repeat(3)))
  assert.equal(await told('hanging'), '')
  assert.deepEqual(warnings, [])
})

test('systemd is notified three times per interval', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] })
  let asked = 0
  const ask = async (): Promise<void> => {
    asked += 1
  }
  using _alive = keepAlive(ask, { WATCHDOG_USEC: '30000000' }, assert.fail)
  for (let third = 1; third <= 3; third += 1) {
    context.mock.timers.tick(10_000)
    await setImmediate()
    assert.equal(asked, third)
  }
})

onFolder('a failed notification of systemd causes one warning; without a watchdog, none is sent', async (folder) => {
  const environment = { PATH: folder.path, WATCHDOG_USEC: '15000', NOTIFY_SOCKET: folder.file('told') }
  const warnings: string[] = []
  let asked = 0
  const ask = async (): Promise<void> => {
    asked += 1
  }
  using _alive = keepAlive(ask, environment, (message) => warnings.push(message))
  const { WATCHDOG_USEC: _, ...unasked } = environment
  using _quiet = keepAlive(assert.fail, unasked, assert.fail)
  await until('it was tried often', () => asked > 5)
  assert.match(warnings.join('\n'), /^systemd could not be notified of WATCHDOG: .*ENOENT$/)
})
