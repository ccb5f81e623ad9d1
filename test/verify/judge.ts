// Runs the kit against changed servers, which all stand in front of one that does everything right.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { defaultFirstId, rangeIds } from '../../verify/ids.ts'
import { type RowName, type RowResult, verify } from '../../verify/verify.ts'
import { inRing, someInRing } from '../support/ring.ts'
import { makeTokens } from '../support/rows.ts'
import { startOwnServer } from '../support/service.ts'
import { firstOfEach, type Wrong } from './operators.ts'
import { roundsLargeIds } from './wrong/creates.ts'
import { sortsIdsAsText, sortsLargeIds } from './wrong/lists.ts'
import { type Behaviour, startWrong } from './wrong-servers.ts'

/** Of all files in this process. It ends with their tests. */
export const judge = startJudge()
after(async () => (await judge).end())

async function startJudge() {
  const own = await startOwnServer()
  const { server } = own
  const tokens = await makeTokens(own.store, server.token)
  /** Other ids each time, so that many runs share the server. */
  let lastId = 10n ** 18n
  const nextId = (): bigint => {
    lastId += rangeIds
    return lastId
  }
  const catchesOnce = async (behave: Behaviour, only: (row: RowName) => boolean, firstId: bigint): Promise<boolean> => {
    await using proxy = await startWrong(server, behave)
    const caught = new AbortController()
    const onRow = ({ outcome }: RowResult): void => {
      if (outcome === 'failed') caught.abort()
    }
    const running = verify({ url: proxy.url, ...tokens, firstId, only, onRow, signal: caught.signal })
    const report = await running.catch((error) => {
      if (caught.signal.aborted) return undefined
      throw error
    })
    return report === undefined || report.counts.failed > 0
  }
  /** Runs with the same ids come one after another. */
  let inTurn: Promise<unknown> = Promise.resolve()
  return {
    /** The failed rows, and what was wrong. */
    failuresOf: async (behave: Behaviour, only: (row: RowName) => boolean) => {
      await using proxy = await startWrong(server, behave)
      const report = await verify({ url: proxy.url, ...tokens, firstId: nextId(), only })
      const failed = report.rows.filter(({ outcome }) => outcome === 'failed')
      return new Map(failed.map(({ title, failure }) => [title, failure?.wrong]))
    },
    /** Runs rows until one has failed; three times, as changes of other runs may come between those that it confuses. */
    catches: async (
      behave: Behaviour,
      only: (row: RowName) => boolean,
      { firstId, times = 3 }: { readonly firstId?: bigint | undefined; readonly times?: number } = {},
    ): Promise<boolean> => {
      const before = inTurn
      const { promise, resolve: end } = Promise.withResolvers<void>()
      if (firstId !== undefined) {
        inTurn = promise
        await before
      }
      try {
        for (let time = 0; time < times; time += 1)
          if (await catchesOnce(behave, only, firstId ?? nextId())) return true
        return false
      } finally {
        end()
      }
    },
    end: () => own[Symbol.asyncDispose](),
  }
}

/** Only ids of the default range have different lengths. */
const spanningDigits: ReadonlySet<string> = new Set([sortsIdsAsText, sortsLargeIds, roundsLargeIds])

/** Each of these servers, made by hand, is wrong in one subject. */
export function testWrong(byHand: readonly Wrong[]): void {
  describe('plantstore verify of a server that', { concurrency: 4 }, () => {
    for (const [does, behave, subject] of someInRing(firstOfEach(byHand), byHand, 8)) {
      test(does, async () => {
        const isAll = (row: RowName): boolean => row.subject === subject || (subject === 'answers' && isAboutAll(row))
        const isFirst = ({ title }: RowName): boolean =>
          catching[subject]?.some((beginning) => title.startsWith(beginning)) ?? false
        const isOfRing = inRing(isFirst, isAll)
        const isRun = (row: RowName): boolean => row.title === makesSafe || isOfRing(row)
        const firstId = spanningDigits.has(does) ? defaultFirstId : undefined
        assert.ok(await (await judge).catches(behave, isRun, { firstId }))
      })
    }
  })
}

/** The beginnings of the rows that catch the servers of the first ring, by subject: others would take ten times as long. */
const catching: Readonly<Record<string, readonly string[]>> = {
  'the document itself': ['a second create of the same id is'],
  int64: ['createPlant keeps an id however it is written'],
  'names and tags': ['replacePlant refuses a name with NUL'],
  bodies: ['replacePlant refuses other media types'],
  'limits of HTTP': ['Content-Type twice'],
  credentials: ['getHome is open to all'],
  parameters: ['getPlant refuses an id', 'listPlants: the query colour=green'],
  'paths and methods': ['a person who opens an address', 'PATCH /plants/{id}'],
  pages: ['the page /docs loads'],
  'Idempotency-Key': ['a repeated create with its key'],
  'plants and ETags': ['an ETag changes with name and tag', 'every operation on a missing plant'],
  lists: ['the ETag of a page changes'],
  changes: ['a stream that goes on'],
  summary: ['the summary counts plants by their tag'],
  'random requests': ['random requests'],
  CORS: ['a preflight of listPlants'],
  answers: ['getOpenapiJson'],
}

/** The row after which those run that a wrong server might apply to other plants. */
export const makesSafe = 'an id that is taken is refused, and its plant stays as it is'

/** Rows with requests of every operation, and those about all answers. */
export function isAboutAll({ subject, title }: RowName): boolean {
  const ofOperations = ['answers', 'credentials', 'paths and methods', 'pages', 'changes'].includes(subject)
  const isOfFields = subject === 'parameters' && title.includes('that is not allowed')
  return ofOperations || isOfFields || (subject === 'lists' && !title.includes('begins with')) || oneOfEach.test(title)
}

const oneOfEach = new RegExp(
  [
    ...['obeys If-', 'refuses (?:other media types|a body of 65,537 bytes|JSON that is no plant)$'],
    ...['^a plant is deleted', '^a repeated create with its key', '^another plant under a key', '^replacing a plant'],
    ...['^the summary counts plants by their tag', '^nothing changes with what browsers'],
  ].join('|'),
)
