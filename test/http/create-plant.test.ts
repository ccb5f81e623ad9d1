// Every row of the table over a real socket, each answer held to the served document; afterwards the store must hold
// what was acknowledged and nothing else.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { errorNumbers } from '../../src/domain/errors.ts'
import { Client, type Connection } from '../support/client.ts'
import type { HttpResponse } from '../support/conformance.ts'
import { describeOnEngines } from '../support/engines.ts'
import { type RunningServer, startServer } from '../support/program.ts'
import { inRing } from '../support/ring.ts'
import { assertNamed, checkRow as checkSharedRow, makeRows, makeTokens } from '../support/rows.ts'
import { openTestStore } from '../support/store.ts'
import { closing, messages, ownRows, type Row, sharedMakers } from './create-plant.rows.ts'

// The first request of a connection never goes the short way of plain requests; those behind it may.
for (const isFirst of inRing([false], [true, false])) describeTable(isFirst)

function describeTable(isFirst: boolean): void {
  describeOnEngines(`createPlant, by the table, ${isFirst ? 'first' : 'second'} on its connection`, async (engine) => {
    const place = await engine.makePlace()
    const { store } = place
    const server: RunningServer = await startServer(store)
    const tokens = await makeTokens(store, server.token)
    const shared = makeRows(tokens, ...sharedMakers)
    const table = ownRows(tokens.token)
    let client: Client

    before(async () => {
      client = await Client.connect(server)
    })

    after(async () => {
      await server[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    })

    test('the table has at least 300 rows, no title twice', () => {
      const titles = [...shared.rows, ...table].map(({ title }) => title)
      assert.ok(titles.length >= 300, `${titles.length}`)
      assert.equal(new Set(titles).size, titles.length)
      assertNamed(shared, [...Object.keys(messages), ...closing])
    })

    for (const row of shared.rows) {
      test(row.title, () =>
        onConnection(client, isFirst, closing.has(row.title), async (connection) => {
          const responses = await checkSharedRow(connection, row, shared.credentials, messages)
          return responses.at(-1)
        }),
      )
    }

    for (const row of table) {
      test(row.title, () =>
        onConnection(client, isFirst, row.closes === true, (connection) => checkRow(connection, row)),
      )
    }

    test('the store holds what was acknowledged, exactly, and no refused plant', async () => {
      assert.equal(await server.stop(), 0)
      await using opened = await openTestStore(store)
      for (const { title, kept } of [...shared.rows, ...table]) {
        if (kept === undefined) continue
        const { id, ...plant } = kept
        assert.deepEqual(await opened.getPlant(id), plant, title)
      }
      for (const { title, ids, kept, steps } of shared.rows) {
        if (steps.length > 1 || kept !== undefined) continue
        for (const id of ids) assert.equal(await opened.getPlant(id), undefined, title)
      }
      assert.equal(await opened.getPlant(4000n), undefined)
      assert.equal(await opened.getPlant(4001n), undefined)
    })
  })
}

/** Gives a row a connection, first or second on it, and looks what becomes of the connection afterwards. */
async function onConnection(
  client: Client,
  isFirst: boolean,
  closes: boolean,
  check: (connection: Connection) => Promise<HttpResponse | undefined>,
): Promise<void> {
  await using connection = await client.open()
  if (!isFirst) await connection.request({ method: 'GET', target: '/plants/1' })
  const response = await check(connection)
  if (closes) {
    assert.equal(response?.headers.get('connection'), 'close')
    connection.finish()
    await connection.closed()
  } else {
    const next = await connection.request({ method: 'GET', target: '/livez' })
    assert.equal(next.status, 200, 'the next request on the connection')
  }
}

async function checkRow(connection: Connection, row: Row): Promise<HttpResponse> {
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
  return response
}
