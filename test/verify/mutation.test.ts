// The kit against wrong servers, each with one change of a right one that breaks what only sentences of the document say.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { defaultFirstId } from '../../verify/ids.ts'
import { type RowName, rowsOf } from '../../verify/verify.ts'
import { inRing } from '../support/ring.ts'
import { derived } from './derived.ts'
import { isAboutAll, makesSafe, startJudge } from './judge.ts'
import { firstOfEach } from './operators.ts'
import { rightServers } from './right-servers.ts'
import { creates } from './wrong/creates.ts'
import { changes, lists, sortsIdsAsText } from './wrong/lists.ts'
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

describe('plantstore verify of a server that', { concurrency: 4 }, async () => {
  const judge = await startJudge()
  after(() => judge[Symbol.asyncDispose]())

  for (const [does, behave, subject] of inRing(firstOfEach(byHand), byHand)) {
    test(does, async () => {
      const isRun = (row: RowName): boolean =>
        row.subject === subject || row.title === makesSafe || (subject === 'answers' && isAboutAll(row))
      assert.ok(await judge.catches(behave, isRun, does === sortsIdsAsText ? defaultFirstId : undefined))
    })
  }
})
