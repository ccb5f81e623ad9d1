// The log of changes under kills. `npm run torture -- changes` has more of them, and a fleet.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { exhaustive, inRing } from '../support/ring.ts'
import { killLateLog, killOneFile } from './changes.ts'

describe('whoever follows the changes, by pages and by streams, sees each once and in order', () => {
  test('while the server of a file is killed', async () => {
    assert.ok((await killOneFile(inRing(1, 2))).changes > 0)
  })

  exhaustive.test('which a log outside of the transactions does not give: the control', async () => {
    assert.ok((await killLateLog(3)).wrong > 0)
  })
})
