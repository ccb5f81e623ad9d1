// The log of changes while a server is killed. `npm run torture -- changes` has more kills, a fleet, and the control.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { killOneFile } from './changes.ts'

test('clients that follow the changes, by pages or a stream, see each once and in order while the server is killed', async () => {
  assert.ok((await killOneFile(1)).changes > 0)
})
