// Idempotency-Key over HTTP: the rows of src/verify; the store suite has the rules of the store itself.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { repeatRows } from '../../src/verify/rows/idempotency.ts'
import { Client } from '../support/client.ts'
import { describeOnBothEngines } from '../support/engines.ts'
import { startServer } from '../support/program.ts'
import { assertNamed, checkRow, type Messages, makeRows, makeTokens } from '../support/rows.ts'

const messages: Messages = {
  'another plant under a key that was used is refused': [
    undefined,
    undefined,
    ...Array(5).fill(/; send another key with this one$/),
  ],
}

describeOnBothEngines('Idempotency-Key', async (engine) => {
  const place = await engine.makePlace()
  const server = await startServer(place.store)
  const client = await Client.connect(server)
  const { rows, credentials } = makeRows(await makeTokens(place.store, server.token), repeatRows)

  after(async () => {
    await server[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
  })

  assertNamed({ rows, credentials }, Object.keys(messages))

  for (const row of rows) {
    test(row.title, async () => {
      await using connection = await client.open()
      const responses = await checkRow(connection, row, credentials, messages)
      const creates = responses.filter(({ headers }) => headers.has('idempotency-replayed'))
      // To the byte, however the plant was written.
      for (const { body } of creates) assert.equal(body, responses[0]?.body)
    })
  }
})
