// The kit against wrong servers that the document itself names, and against right ones that are unlike ours.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openDocument } from '../../verify/document.ts'
import type { RowName } from '../../verify/verify.ts'
import { inRing, sampleOf, someInRing } from '../support/ring.ts'
import { derived } from './derived.ts'
import { isAboutAll, judge, makesSafe } from './judge.ts'
import { firstOfEach } from './operators.ts'
import { rightServers } from './right-servers.ts'

const { operations } = openDocument()

describe('plantstore verify of a server that', { concurrency: 4 }, () => {
  for (const [does, behave, operation] of someInRing(sampleOf(firstOfEach(derived), 5), derived, 40)) {
    test(does, async () => {
      const isOfOther = ({ title }: RowName): boolean =>
        operations.some(({ id }) => id !== operation && title.startsWith(id))
      const isOfOwn = ({ title }: RowName): boolean => title === makesSafe || title.startsWith(operation)
      const isRun = (row: RowName): boolean => row.title === makesSafe || (isAboutAll(row) && !isOfOther(row))
      const { catches } = await judge
      // Its own rows catch most, and are few.
      assert.ok((await catches(behave, isOfOwn, { times: 1 })) || (await catches(behave, isRun)))
    })
  }

  // The one of the first ring is unlike ours in its changes.
  const isRun = ({ subject }: RowName): boolean => inRing(subject === 'changes', true)
  for (const [does, behave] of someInRing(rightServers.slice(-1), rightServers, 40)) {
    test(`${does} does nothing wrong`, async () => {
      assert.deepEqual(await (await judge).failuresOf(behave, isRun), new Map())
    })
  }
})
