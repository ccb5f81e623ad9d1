// The kit against wrong servers, each with one change of a right one, and against right ones that are unlike ours. Most
// wrong ones follow from the document; those by hand break what only its sentences say.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { openDocument } from '../../verify/document.ts'
import { defaultFirstId, rangeIds } from '../../verify/ids.ts'
import { type RowName, rowsOf, verify } from '../../verify/verify.ts'
import { makeFolder } from '../support/folder.ts'
import { startServer } from '../support/program.ts'
import { inRing } from '../support/ring.ts'
import { makeTokens } from '../support/rows.ts'
import { derived } from './derived.ts'
import type { Wrong } from './operators.ts'
import { rightServers } from './right-servers.ts'
import { creates } from './wrong/creates.ts'
import { changes, lists, sortsIdsAsText } from './wrong/lists.ts'
import { ofPlants } from './wrong/plants.ts'
import { service } from './wrong/service.ts'
import { type Behaviour, startWrong } from './wrong-servers.ts'

const byHand = [...creates, ...lists, ...changes, ...ofPlants, ...service]
const { operations } = openDocument()
const subjects = new Set(rowsOf().map(({ subject }) => subject))
/** One wrong server of each subject and of each operation, for the first ring. */
const firsts = (all: readonly Wrong[]): readonly Wrong[] => [...new Map(all.map((wrong) => [wrong[2], wrong])).values()]

test('there are wrong servers of every subject, none twice, and right ones', () => {
  const all = [...derived, ...byHand]
  assert.ok(byHand.length >= 500 && derived.length >= 250, `${byHand.length} and ${derived.length}`)
  assert.ok(rightServers.length >= 45, `${rightServers.length}`)
  assert.equal(new Set(all.map(([does]) => does)).size, all.length)
  const caught = new Set(byHand.map(([, , subject]) => subject))
  assert.deepEqual(caught, subjects)
})

describe('plantstore verify of a server that', { concurrency: 4 }, async () => {
  const folder = await makeFolder()
  const server = await startServer(folder.file('plants.db'))
  const tokens = await makeTokens(folder.file('plants.db'), server.token)

  after(async () => {
    await server[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
  })

  /** Other ids each time, so that many runs share the server. */
  let nextId = 10n ** 18n
  const run = async (behave: Behaviour, only: (row: RowName) => boolean, wanted?: bigint) => {
    nextId += rangeIds
    const firstId = wanted ?? nextId
    await using proxy = await startWrong(server, behave)
    const report = await verify({ url: proxy.url, ...tokens, firstId, only })
    const failed = report.rows.filter(({ outcome }) => outcome === 'failed')
    return new Map(failed.map(({ title, failure }) => [title, failure?.wrong]))
  }

  for (const [does, behave, subject] of inRing(firsts(byHand), byHand)) {
    test(does, async () => {
      const isRun = (row: RowName): boolean =>
        row.subject === subject || row.title === makesSafe || (subject === 'answers' && isAboutAll(row))
      const failed = await run(behave, isRun, does === sortsIdsAsText ? defaultFirstId : undefined)
      assert.notEqual(failed.size, 0)
    })
  }

  // Each run takes seconds, and many differ in the operation alone.
  const third = <Each>(all: readonly Each[]): readonly Each[] => all.filter((_, at) => at % 3 === 0)
  for (const [does, behave, operation] of inRing(third(firsts(derived)), third(derived))) {
    test(does, async () => {
      const isOfOther = ({ title }: RowName): boolean =>
        operations.some(({ id }) => id !== operation && title.startsWith(id))
      const isRun = (row: RowName): boolean => row.title === makesSafe || (isAboutAll(row) && !isOfOther(row))
      // Changes of other runs may come between those that it confuses.
      for (let times = 0; times < 3; times += 1) if ((await run(behave, isRun)).size > 0) return
      assert.fail('nothing is wrong')
    })
  }

  for (const [does, behave] of inRing(rightServers.slice(-1), third(rightServers))) {
    test(`${does} does nothing wrong`, async () => {
      assert.deepEqual(await run(behave, () => true), new Map())
    })
  }
})

/** The row after which those run that a wrong server might apply to other plants. */
const makesSafe = 'an id that is taken is refused, and its plant stays as it is'

/** Rows with requests of every operation, and those about all answers. */
function isAboutAll({ subject, title }: RowName): boolean {
  const ofOperations = ['answers', 'credentials', 'paths and methods', 'pages', 'changes'].includes(subject)
  const isOfFields = subject === 'parameters' && title.includes('that is not allowed')
  return ofOperations || isOfFields || (subject === 'lists' && !title.includes('begins with')) || oneOfEach.has(title)
}

const oneOfEach: ReadonlySet<string> = new Set([
  'If-None-Match gets 304 when it names the current ETag',
  'If-Match on a read succeeds only while the plant is unchanged',
  'If-Match prevents lost updates',
  'a plant is deleted',
  'a repeated create with its key gets the first answer again, and says so',
  'another plant under a key that was used is refused',
  'replacing a plant answers like createPlant',
  'createPlant refuses JSON that is no plant',
  'createPlant refuses other media types',
  'createPlant refuses a body of 65,537 bytes',
  'replacePlant refuses other media types',
  'replacePlant refuses a body of 65,537 bytes',
  'replacePlant refuses JSON that is no plant',
  'the summary counts plants by their tag as they are created and deleted',
])
