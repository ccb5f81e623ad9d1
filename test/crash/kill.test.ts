// Servers are killed with SIGKILL under load: everything that they acknowledged must be there afterwards.

import assert from 'node:assert/strict'
import { describeOnEngines } from '../support/engines.ts'
import { exhaustive } from '../support/ring.ts'
import { killEarlyAck, killServers } from './kill.ts'

describeOnEngines('kill -9', ({ name, makePlace, onPlace }) => {
  const servers = name === 'SQLite' ? 1 : 2

  onPlace('of a server under load: no acknowledged plant is lost, doubled or refused', async (place, context) => {
    const { acknowledged, lost, failed, replayed } = await killServers(place.store, { kills: 1, servers })
    assert.equal(lost, 0)
    context.diagnostic(`${acknowledged} plants, ${failed} creates repeated, ${replayed} of them done before`)
  })

  if (name !== 'SQLite') return
  exhaustive.test('control: servers that say yes before the commit are caught', async () => {
    await using stack = new AsyncDisposableStack()
    const makeStore = async (): Promise<string> => stack.use(await makePlace()).store
    assert.ok((await killEarlyAck(makeStore, { kills: 1, servers })).lost > 0)
  })
})
