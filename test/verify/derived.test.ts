// The kit against wrong servers that the document itself names, and against right ones that are unlike ours.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { openDocument } from '../../verify/document.ts'
import type { RowName } from '../../verify/verify.ts'
import { inRing, sampleOf } from '../support/ring.ts'
import { derived } from './derived.ts'
import { isAboutAll, makesSafe, startJudge } from './judge.ts'
import { firstOfEach } from './operators.ts'
import { rightServers } from './right-servers.ts'

const { operations } = openDocument()

describe('plantstore verify of a server that', { concurrency: 4 }, async () => {
  const judge = await startJudge()
  after(() => judge[Symbol.asyncDispose]())

  for (const [does, behave, operation] of inRing(sampleOf(firstOfEach(derived), 5), sampleOf(derived, 12), derived)) {
    test(does, async () => {
      const isOfOther = ({ title }: RowName): boolean =>
        operations.some(({ id }) => id !== operation && title.startsWith(id))
      const isRun = (row: RowName): boolean => row.title === makesSafe || (isAboutAll(row) && !isOfOther(row))
      assert.ok(await judge.catches(behave, isRun))
    })
  }

  for (const [does, behave] of inRing(rightServers.slice(-1), sampleOf(rightServers, 15), rightServers)) {
    test(`${does} does nothing wrong`, async () => {
      assert.deepEqual(await judge.failuresOf(behave), new Map())
    })
  }
})
