// The log of changes under kills, a few of `npm run torture -- changes`.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startDatabase } from '../support/postgres.ts'
import { exhaustive } from '../support/ring.ts'
import { killFleet, killLateLog, killOneFile } from './changes.ts'

describe('whoever follows the changes, by pages and by streams, sees each once and in order', () => {
  test('while the server of a file is killed', async () => {
    assert.ok((await killOneFile(2)).changes > 0)
  })

  test('which a log outside of the transactions does not give: the control', async () => {
    assert.ok((await killLateLog(3)).wrong > 0)
  })

  exhaustive.test('while servers of a fleet are killed, and transactions of others stay open', async () => {
    await using database = await startDatabase()
    assert.ok((await killFleet(database, 3)).changes > 0)
  })
})
