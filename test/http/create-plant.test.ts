// Every row of the table over a real socket, each answer held to the served document; afterwards the store must hold
// what was acknowledged and nothing else.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { systemClock } from '../../src/cli/clock.ts'
import { createToken } from '../../src/cli/token.ts'
import { errorNumbers } from '../../src/domain/errors.ts'
import { mintSecret } from '../../src/domain/token.ts'
import { Client } from '../support/client.ts'
import { describeOnEngines } from '../support/engines.ts'
import { type RunningServer, startServer } from '../support/program.ts'
import { openTestStore } from '../support/store.ts'
import { type Row, rows, type Tokens } from './create-plant.rows.ts'

// The first request of a connection never goes the short way of plain requests; those behind it may.
for (const isFirst of [true, false]) describeTable(isFirst)

function describeTable(isFirst: boolean): void {
  describeOnEngines(`createPlant, by the table, ${isFirst ? 'first' : 'second'} on its connection`, async (engine) => {
    const place = await engine.makePlace()
    const { store } = place
    const server: RunningServer = await startServer(store)
    const tokens = await makeTokens(store, server.token)
    const table = rows(tokens)
    let client: Client

    before(async () => {
      client = await Client.connect(server)
    })

    after(async () => {
      await server[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    })

    test('the table has at least 150 rows, no title twice', () => {
      assert.ok(table.length >= 150, `${table.length}`)
      assert.equal(new Set(table.map(({ title }) => title)).size, table.length)
    })

    for (const row of table) test(row.title, () => checkRow(client, row, isFirst))

    test('the store holds what was acknowledged, exactly, and no refused plant', async () => {
      assert.equal(await server.stop(), 0)
      await using opened = await openTestStore(store)
      for (const { title, kept } of table) {
        if (kept === undefined) continue
        const { id, ...plant } = kept
        assert.deepEqual(await opened.getPlant(id), plant, title)
      }
      assert.equal(await opened.getPlant(4000n), undefined)
      assert.equal(await opened.getPlant(4001n), undefined)
    })
  })
}

async function checkRow(client: Client, row: Row, isFirst: boolean): Promise<void> {
  await using connection = await client.open()
  if (!isFirst) await connection.request({ method: 'GET', target: '/plants/1' })
  const response = await connection.request(row.request)
  assert.equal(response.status, row.status, response.body)
  if (row.error !== undefined && row.request.method !== 'HEAD') {
    const { error, message } = JSON.parse(response.body)
    assert.equal(error, errorNumbers[row.error], message)
    if (row.message !== undefined) assert.match(message, row.message)
    assert.doesNotMatch(message, /plt_\w{10}|node_modules|\.ts\b/)
  }
  for (const [name, value] of Object.entries(row.headers ?? {})) assert.equal(response.headers.get(name), value, name)
  if (row.kept !== undefined) {
    const { id, ...plant } = row.kept
    assert.equal(response.body, JSON.stringify(plant))
    assert.equal(response.headers.get('location'), `/plants/${id}`)
  }
  if (row.closes) {
    assert.equal(response.headers.get('connection'), 'close')
    connection.finish()
    await connection.closed()
  } else {
    const next = await connection.request({ method: 'GET', target: '/livez' })
    assert.equal(next.status, 200, 'the next request on the connection')
  }
}

async function makeTokens(path: string, good: string): Promise<Tokens> {
  await using store = await openTestStore(path, { exclusive: false })
  const readOnly = await createToken(store, { name: 'reads', scopes: ['plants:read'] })
  const expired = await createToken(store, { name: 'expired', scopes: ['plants:write'], lifetimeMs: -1 })
  const revoked = await createToken(store, { name: 'revoked', scopes: ['plants:write'] })
  await store.revokeToken(revoked.id, systemClock.wallMs())
  return {
    good,
    readOnly: readOnly.secret,
    expired: expired.secret,
    revoked: revoked.secret,
    unknown: mintSecret(randomBytes(32)),
  }
}
