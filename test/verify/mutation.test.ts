// The wrong servers: there are enough, of every subject. Their tests are in files of their own, which run side by side.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowsOf } from '../../verify/verify.ts'
import { derived } from './derived.ts'
import { rightServers } from './right-servers.ts'
import { changes } from './wrong/changes.ts'
import { creates } from './wrong/creates.ts'
import { lists } from './wrong/lists.ts'
import { ofPlants } from './wrong/plants.ts'
import { service } from './wrong/service.ts'

const byHand = [...creates, ...lists, ...changes, ...ofPlants, ...service]
const subjects = new Set(rowsOf().map(({ subject }) => subject))

test('there are wrong servers of every subject, none twice, and right ones', () => {
  const all = [...derived, ...byHand]
  assert.ok(byHand.length >= 500 && derived.length >= 250, `${byHand.length} and ${derived.length}`)
  assert.ok(rightServers.length >= 45, `${rightServers.length}`)
  assert.equal(new Set(all.map(([does]) => does)).size, all.length)
  const caught = new Set(byHand.map(([, , subject]) => subject))
  assert.deepEqual(caught, subjects)
})
