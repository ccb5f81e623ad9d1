// The kit against wrong servers, each with one change of a right one, and against right ones that are unlike ours. The
// list of wrong ones follows the document, sentence by sentence: one that no wrong server breaks says why.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, describe, test } from 'node:test'
import { defaultFirstId, rangeIds } from '../../src/verify/ids.ts'
import { type RowName, rowsOf, verify } from '../../src/verify/verify.ts'
import { makeFolder } from '../support/folder.ts'
import { startServer } from '../support/program.ts'
import { inRing } from '../support/ring.ts'
import { makeTokens } from '../support/rows.ts'
import { rightServers } from './right-servers.ts'
import { changes } from './wrong/changes.ts'
import { creates } from './wrong/creates.ts'
import { lists } from './wrong/lists.ts'
import { ofPlants } from './wrong/plants.ts'
import { service } from './wrong/service.ts'
import { sortsIdsAsText } from './wrong-lists.ts'
import { type Behaviour, startWrong } from './wrong-servers.ts'

const entries = [...changes, ...creates, ...lists, ...ofPlants, ...service]
const wrong = entries.flatMap((entry) => ('wrong' in entry ? entry.wrong : []))
/** The first ring has some of each table. */
const some = <Item>(items: readonly Item[], step: number): readonly Item[] =>
  inRing(
    items.filter((_, at) => at % step === 0),
    items,
  )

/** The sentences of all descriptions in the document. */
function sentencesOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) => {
    // verify has no receiver of webhooks; test/deliver/ has.
    if (['example', 'examples', 'webhooks'].includes(key) || key.startsWith('Webhook')) return []
    return key === 'description' && typeof each === 'string' ? split(each) : sentencesOf(each)
  })
}

function split(text: string): readonly string[] {
  const parts = text.split(/\n|(?<=[.:])\s+(?=[A-Z`])/).map((each) => each.trim())
  return parts.filter((each) => each !== '')
}

describe('the lists of wrong and of right servers', () => {
  test('have every sentence of the document, with servers that break it or why there is none', async () => {
    const document = await readFile(new URL('../../openapi.json', import.meta.url), 'utf8')
    const sentences = new Set(sentencesOf(JSON.parse(document)))
    const listed = new Set(entries.flatMap(({ says }) => says))
    assert.deepEqual(
      [...sentences].filter((each) => !listed.has(each)),
      [],
    )
    assert.deepEqual(
      [...listed].filter((each) => !sentences.has(each)),
      [],
    )
  })

  test('have at least 500 wrong and 40 right ones, none twice, and rows that exist', () => {
    const names = wrong.map(([does]) => does)
    assert.ok(names.length >= 500, `${names.length}`)
    assert.deepEqual(
      names.filter((name, at) => names.indexOf(name) !== at),
      [],
    )
    const subjects = new Set(rowsOf().map(({ subject }) => subject))
    assert.ok(rightServers.length >= 40, `${rightServers.length}`)
    assert.deepEqual(
      rightServers.flatMap(([, , ...each]) => each).filter((each) => !subjects.has(each)),
      [],
    )
    const titles = new Set(rowsOf().map(({ title }) => title))
    assert.deepEqual(
      wrong.flatMap(([, , ...rows]) => rows).filter((row) => !titles.has(row)),
      [],
    )
  })
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
  const run = async (behave: Behaviour, only: (row: RowName) => boolean, wanted?: bigint): Promise<Failed> => {
    nextId += rangeIds
    const firstId = wanted ?? nextId
    await using proxy = await startWrong(server, behave)
    const report = await verify({ url: proxy.url, ...tokens, firstId, only })
    const failed = report.rows.filter(({ outcome }) => outcome === 'failed')
    return new Map(failed.map(({ title, failure }) => [title, failure?.wrong]))
  }

  for (const [does, behave, ...rows] of some(wrong, 40)) {
    test(does, async () => {
      const isAboutAnswers = rows.some((row) => ofAnswers.has(row))
      const isRun = ({ title, subject }: RowName): boolean =>
        rows.includes(title) || title === makesSafe || (isAboutAnswers && general.has(subject))
      // Only in the default range do ids have different lengths.
      const failed = await run(behave, isRun, behave === sortsIdsAsText ? defaultFirstId : undefined)
      assert.deepEqual(
        rows.filter((row) => !failed.has(row)),
        [],
        [...failed.keys()].join('\n'),
      )
    })
  }

  for (const [does, behave, ...subjects] of some(rightServers, 25)) {
    test(`${does} does nothing wrong`, async () => {
      // `WHOLE=1` runs all rows on each of them.
      const isWhole = process.env['WHOLE'] === '1'
      const failed = await run(behave, ({ subject }) => isWhole || subjects.includes(subject))
      assert.deepEqual(failed, new Map())
    })
  }
})

type Failed = ReadonlyMap<string, string | undefined>

const ofAnswers = new Set(
  rowsOf()
    .filter(({ subject }) => subject === 'answers')
    .map(({ title }) => title),
)
/** Subjects whose requests get all kinds of answers. */
const general: ReadonlySet<string> = new Set(['paths and methods', 'plants and ETags', 'summary', 'lists', 'changes'])
/** The row after which those run that a wrong server might apply to other plants. */
const makesSafe = 'an id that is taken is refused, and its plant stays as it is'
