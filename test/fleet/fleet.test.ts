// Several servers on one PostgreSQL: they race for ids, and agree about tokens.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Client, type Connection, countStatuses, plantJson } from '../support/client.ts'
import { openAll } from '../support/engines.ts'
import { startDatabase } from '../support/postgres.ts'
import { type RunningServer, runProgram, startServer } from '../support/program.ts'
import { exhaustive, inRing } from '../support/ring.ts'
import { openTestStore, readPlant } from '../support/store.ts'
import { until } from '../support/time.ts'

const servers = inRing(2, 3)
const clients = 50
const races = inRing(4, 50)

describe('a fleet on PostgreSQL', async () => {
  const database = await startDatabase()
  after(() => database[Symbol.asyncDispose]())

  exhaustive.test('servers that start at once on an empty database make its tables and one first token', async () => {
    const store = await database.makePlace()
    const fleet = await startFleet(store, 10)
    assert.equal(fleet.filter(({ token }) => token !== '').length, 1)
    await stopFleet(fleet)
  })

  test(`${clients} clients race for one id over ${servers} servers, ${races} times: one winner each`, async () => {
    const store = await database.makePlace()
    const fleet = await startFleet(store)
    const token = tokenOf(fleet)
    const { conformance } = await Client.connect({ ...(fleet[0] as RunningServer), token })
    const connections = await Promise.all(
      Array.from({ length: clients }, (_, client) =>
        new Client(fleet[client % servers]?.port ?? 0, token, conformance).open(),
      ),
    )
    await using opened = await openTestStore(store, { exclusive: false })
    for (let id = 0n; id < races; id += 1n) {
      const answers = await Promise.all(
        connections.map((connection: Connection, client) =>
          connection.requestUntilServed({ body: plantJson(id, `${client}`) }),
        ),
      )
      assert.deepEqual(countStatuses(answers), { 200: 1, 409: clients - 1 }, `id ${id}`)
      const winner = answers.findIndex(({ status }) => status === 200)
      assert.deepEqual(await readPlant(opened, id), { name: `${winner}` })
    }
    await Promise.all(connections.map((connection) => connection[Symbol.asyncDispose]()))
    await stopFleet(fleet)
  })

  exhaustive.test('a token that is revoked anywhere holds nowhere', async () => {
    const store = await database.makePlace()
    const fleet = await startFleet(store)
    const token = tokenOf(fleet)
    const statuses = (): Promise<number[]> =>
      Promise.all(
        fleet.map(async ({ url }) => {
          const response = await fetch(`${url}/plants`, { headers: { authorization: `Bearer ${token}` } })
          await response.text()
          return response.status
        }),
      )
    assert.deepEqual(await statuses(), [200, 200, 200])
    const list = await runProgram(['token', 'list', '--json', '--store', store])
    await runProgram(['token', 'revoke', JSON.parse(list.stdout)[0].id, '--store', store])
    await until('no server takes the token any more', async () => (await statuses()).every((status) => status === 401))
    await stopFleet(fleet)
  })
})

function startFleet(store: string, count = servers): Promise<readonly RunningServer[]> {
  return openAll(Array.from({ length: count }, () => startServer(store)))
}

/** The server that came first has printed it. */
function tokenOf(fleet: readonly RunningServer[]): string {
  return fleet.map(({ token }) => token).join('')
}

async function stopFleet(fleet: readonly RunningServer[]): Promise<void> {
  for (const server of fleet) assert.equal(await server.stop(), 0, server.output.stderr)
}
