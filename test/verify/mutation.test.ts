// The kit against wrong servers, each with one change of a right one, and against right ones that are unlike ours. The
// lists of wrong ones follow the document, sentence by sentence: one that no wrong server breaks says why.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, describe, test } from 'node:test'
import { defaultFirstId, rangeIds } from '../../verify/ids.ts'
import { type RowName, rowsOf, verify } from '../../verify/verify.ts'
import { makeFolder } from '../support/folder.ts'
import { startServer } from '../support/program.ts'
import { inRing } from '../support/ring.ts'
import { makeTokens } from '../support/rows.ts'
import type { Wrong } from './operators.ts'
import { rightServers } from './right-servers.ts'
import { creates } from './wrong/creates.ts'
import { changes, lists, sortsIdsAsText } from './wrong/lists.ts'
import { ofPlants } from './wrong/plants.ts'
import { service } from './wrong/service.ts'
import { untested } from './wrong/untested.ts'
import { type Behaviour, startWrong } from './wrong-servers.ts'

const tables = [changes, creates, lists, ofPlants, service]
const subjects: ReadonlyMap<string, string> = new Map(rowsOf().map(({ subject, title }) => [title, subject]))
const wrong = tables
  .flat()
  .filter((each) => typeof each !== 'string')
  .map(([does, behave, ...rows]): Wrong => [does, behave, ...rows.map(rowNamed)])
/** The first wrong server of each subject, for the first ring. */
const firsts = new Map(
  wrong.toReversed().flatMap((each) => each.slice(2).map((row) => [subjects.get(String(row)), each] as const)),
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

/** The title of the row that a title stands for in which `…` stands for any text. */
function rowNamed(name: string): string {
  const parts = name.split('…').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  const titles = [...subjects.keys()].filter((title) => new RegExp(`^${parts.join('.*')}$`, 's').test(title))
  return titles.length === 1 ? String(titles[0]) : name
}

describe('the lists of wrong and of right servers', () => {
  test('have every sentence of the document, before servers that break it or behind why there is none', async () => {
    const document = await readFile(new URL('../../openapi.json', import.meta.url), 'utf8')
    const sentences = new Set(sentencesOf(JSON.parse(document)))
    const listed = [...untested, ...tables.flat().filter((each) => typeof each === 'string')]
    assert.deepEqual(listed.toSorted(), [...sentences].toSorted())
    for (const table of tables) assert.notEqual(typeof table.at(-1), 'string')
  })

  test('have at least 600 wrong and 60 right ones, none twice, with rows that exist', () => {
    assert.ok(wrong.length >= 600, `${wrong.length}`)
    assert.ok(rightServers.length >= 60, `${rightServers.length}`)
    assert.equal(new Set(wrong.map(([does]) => does)).size, wrong.length)
    for (const [does, , ...rows] of wrong) {
      assert.ok(rows.length > 0, does)
      for (const row of rows) assert.ok(subjects.has(row), `${row} is no row, or stands for several`)
    }
    const names = new Set(subjects.values())
    for (const [does, , ...each] of rightServers) for (const name of each) assert.ok(names.has(name), does)
    // Each subject has a server in the first ring.
    assert.deepEqual(new Set(firsts.keys()), names)
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
  const run = async (behave: Behaviour, only: (row: RowName) => boolean, wanted?: bigint) => {
    nextId += rangeIds
    const firstId = wanted ?? nextId
    await using proxy = await startWrong(server, behave)
    const report = await verify({ url: proxy.url, ...tokens, firstId, only })
    const failed = report.rows.filter(({ outcome }) => outcome === 'failed')
    return new Map(failed.map(({ title, failure }) => [title, failure?.wrong]))
  }

  for (const [does, behave, ...rows] of inRing([...new Set(firsts.values())], wrong)) {
    test(does, async () => {
      const isAboutAnswers = rows.some((row) => subjects.get(row) === 'answers')
      const isRun = ({ title }: RowName): boolean =>
        rows.includes(title) || title === makesSafe || (isAboutAnswers && eachOperation.has(title))
      const failed = await run(behave, isRun, does === sortsIdsAsText ? defaultFirstId : undefined)
      assert.deepEqual(
        rows.filter((row) => !failed.has(row)),
        [],
        [...failed.keys()].join('\n'),
      )
    })
  }

  for (const [does, behave, ...subjects] of inRing(
    [...rightServers.slice(0, 4), ...rightServers.slice(-1)],
    rightServers,
  )) {
    test(`${does} does nothing wrong`, async () => {
      // `WHOLE=1` runs all rows on each of them.
      const isWhole = process.env['WHOLE'] === '1'
      const failed = await run(behave, ({ subject }) => isWhole || subjects.includes(subject))
      assert.deepEqual(failed, new Map())
    })
  }
})

/** The row after which those run that a wrong server might apply to other plants. */
const makesSafe = 'an id that is taken is refused, and its plant stays as it is'
/** Rows with requests of every operation, and of others: a row about all answers needs answers. */
const eachOperation: ReadonlySet<string> = new Set([
  'a plant is deleted',
  'replacing a plant answers like createPlant',
  'the query limit=0 is refused',
  'a token that may only read lists, but neither replaces nor deletes',
  'each change is listed once, in order, with the plant that it made or deleted',
  'a file of the pages is sent again only when it has changed',
  'PATCH /plants/{id}',
  'GET /nowhere',
  ...['/', '/docs', '/livez', '/readyz', '/openapi.json', '/openapi.yaml', '/site/style.css'].map(
    (path) => `GET ${path}`,
  ),
])
