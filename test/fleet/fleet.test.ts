// Several servers on one PostgreSQL race for ids.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client, countStatuses, plantJson } from '../support/client.ts'
import { openAll } from '../support/engines.ts'
import { startDatabase } from '../support/postgres.ts'
import { inRing } from '../support/ring.ts'
import { type Served, serveHere } from '../support/service.ts'

const clients = 50
const races = inRing(4, 20)

test(`${clients} clients race for one id over two servers, ${races} times: one winner each`, async () => {
  await using database = await startDatabase()
  await using stack = new AsyncDisposableStack()
  const store = await database.makePlace()
  const fleet = await openAll([serveHere(store), serveHere(store)])
  for (const server of fleet) stack.use(server)
  const token = fleet.map((server) => server.token).join('')
  const { conformance } = await Client.connect({ ...(fleet[0] as Served), token })
  const connections = await Promise.all(
    Array.from({ length: clients }, (_, client) =>
      new Client(fleet[client % fleet.length]?.port ?? 0, token, conformance).open(),
    ),
  )
  for (const connection of connections) stack.use(connection)
  for (let id = 0n; id < races; id += 1n) {
    const answers = await Promise.all(
      connections.map((connection, client) => connection.requestUntilServed({ body: plantJson(id, `${client}`) })),
    )
    assert.deepEqual(countStatuses(answers), { 200: 1, 409: clients - 1 }, `id ${id}`)
    const winner = answers.findIndex(({ status }) => status === 200)
    const reads = connections
      .slice(0, fleet.length)
      .map((each) => each.request({ method: 'GET', target: `/plants/${id}` }))
    for (const { body } of await Promise.all(reads)) assert.equal(body, plantJson(id, `${winner}`))
  }
})
