// What stops that fail no request need of a proxy. `npm run torture -- stops` stops servers behind those of deploy/.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDatabase } from '../support/postgres.ts'
import { missingFor, stopServers } from './stops.ts'

/** How many requests are under way in a stop is chance. */
const roundsMax = 4
const stops = 2

test('stops behind a proxy fail requests if it does not ask the next server', {
  skip: missingFor('nginx') ?? false,
}, async () => {
  await using database = await startDatabase()
  const change = { 'proxy_next_upstream error;': 'proxy_next_upstream off;' }
  for (let round = 0; round < roundsMax; round += 1) {
    const { failed } = await stopServers({ store: await database.makePlace(), proxy: 'nginx', stops, change })
    if (failed > 0) return
  }
  assert.fail(`no request failed, ${roundsMax} times`)
})
