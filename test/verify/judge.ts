// Runs the kit against changed servers, which all stand in front of one that does everything right.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { defaultFirstId, rangeIds } from '../../verify/ids.ts'
import { type RowName, type RowResult, verify } from '../../verify/verify.ts'
import { makeFolder } from '../support/folder.ts'
import { startServer } from '../support/program.ts'
import { someInRing } from '../support/ring.ts'
import { makeTokens } from '../support/rows.ts'
import { firstOfEach, type Wrong } from './operators.ts'
import { roundsLargeIds } from './wrong/creates.ts'
import { sortsIdsAsText, sortsLargeIds } from './wrong/lists.ts'
import { type Behaviour, startWrong } from './wrong-servers.ts'

export interface Judge extends AsyncDisposable {
  /** The failed rows, and what was wrong. */
  failuresOf(behave: Behaviour, only: (row: RowName) => boolean): Promise<ReadonlyMap<string, string | undefined>>
  /** Runs rows until one has failed; three times, as changes of other runs may come between those that it confuses. */
  catches(behave: Behaviour, only: (row: RowName) => boolean, more?: Partial<Tries>): Promise<boolean>
}

interface Tries {
  readonly firstId: bigint | undefined
  readonly times: number
}

export async function startJudge(): Promise<Judge> {
  const folder = await makeFolder()
  const server = await startServer(folder.file('plants.db'))
  const tokens = await makeTokens(folder.file('plants.db'), server.token)
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
    failuresOf: async (behave, only) => {
      await using proxy = await startWrong(server, behave)
      const report = await verify({ url: proxy.url, ...tokens, firstId: nextId(), only })
      const failed = report.rows.filter(({ outcome }) => outcome === 'failed')
      return new Map(failed.map(({ title, failure }) => [title, failure?.wrong]))
    },
    catches: async (behave, only, { firstId, times = 3 } = {}) => {
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
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}

/** Only ids of the default range have different lengths. */
const spanningDigits: ReadonlySet<string> = new Set([sortsIdsAsText, sortsLargeIds, roundsLargeIds])

/** Each of these servers, made by hand, is wrong in one subject. */
export function testWrong(byHand: readonly Wrong[]): void {
  describe('plantstore verify of a server that', { concurrency: 4 }, async () => {
    const judge = await startJudge()
    after(() => judge[Symbol.asyncDispose]())
    for (const [does, behave, subject] of someInRing(firstOfEach(byHand), byHand, 8)) {
      test(does, async () => {
        const isRun = (row: RowName): boolean =>
          row.subject === subject || row.title === makesSafe || (subject === 'answers' && isAboutAll(row))
        const firstId = spanningDigits.has(does) ? defaultFirstId : undefined
        assert.ok(await judge.catches(behave, isRun, { firstId }))
      })
    }
  })
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
