// Measures contenders in turn, round by round, so that a machine that changes its speed affects all of them.

import { findGenerator, type Load } from './load.ts'
import { figuresOf, type ServerProcess } from './process.ts'
import { type Comparison, contendersOf, type Round } from './results.ts'

/** How long each contender is measured. */
export interface Effort {
  readonly rounds: number
  readonly roundSeconds: number
}

/** Measures one round of one contender. The result of a warm-up is discarded. */
export type Measure = (seconds: number, isWarmUp: boolean) => Promise<Round>

interface Contest {
  readonly title: string
  /** Describes the load, without the rounds. */
  readonly setup: string
  /** The others are compared to the first. */
  readonly measures: Readonly<Record<string, Measure>>
}

/** Servers under the same load; the others are compared to the first. */
interface ServerContest {
  readonly title: string
  /** A server can have its own request or its own number of plants. */
  readonly servers: Readonly<Record<string, ServerProcess & Partial<Pick<Load, 'request' | 'plants'>>>>
  readonly load: Load
}

const warmUpSeconds = 2
/** Warm-up rate as a multiple of the rate: code is compiled after a number of requests, not of seconds. */
const warmUpRates = 10
/** Below this share of the rate, a round does not count as measured at that rate. */
const rateShareMin = 0.95
const attemptsMax = 3
let runs = 0

/** The unique number of a run, from which its ids are made. */
const nextRun = (): number => ++runs

/** Measures contenders in turn, after one warm-up round. Rejects when a request fails. */
export async function measureInTurn({ measures, ...contest }: Contest, effort: Effort): Promise<Comparison> {
  const { rounds, roundSeconds } = effort
  const measured = new Map<string, Round[]>(Object.keys(measures).map((name) => [name, []]))
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, measure] of Object.entries(measures)) {
      const isWarmUp = round === 0
      const result = await measure(isWarmUp ? warmUpSeconds : roundSeconds, isWarmUp)
      if (!isWarmUp) measured.get(name)?.push(result)
    }
  }
  const setup = `${contest.setup}, ${rounds} rounds of ${roundSeconds} s in turn, medians`
  return { ...contest, setup, contenders: contendersOf(measured) }
}

/** Measures servers at their maximum, or all at the same rate. */
export function compare({ title, servers, load }: ServerContest, effort: Effort): Promise<Comparison> {
  const { connections, ratePerSecond, plants } = load
  const rate = ratePerSecond === undefined ? '' : ` at ${ratePerSecond} requests a second`
  const measures = Object.entries(servers).map(([name, server]) => {
    const { request = load.request, plants: ownPlants = plants } = server
    const own = { ...load, request, ...(ownPlants !== undefined && { plants: ownPlants }) }
    return [name, underLoad(server, own)] as const
  })
  const contest = {
    title,
    setup: `${connections} connection${connections === 1 ? '' : 's'} by ${findGenerator().name}${rate}`,
    measures: Object.fromEntries(measures),
  }
  return measureInTurn(contest, effort)
}

/**
 * Measures servers at their maximum and at an equal rate. A server that is slower than its client wakes it for every
 * response, which costs CPU time, so only an equal rate shows what a request costs.
 */
export async function* compareBoth(
  contest: ServerContest & { readonly ratePerSecond: number },
  effort: Effort,
): AsyncGenerator<Comparison> {
  const { title, ratePerSecond, load } = contest
  yield await compare(contest, effort)
  yield await compare({ ...contest, title: `${title}, at an equal rate`, load: { ...load, ratePerSecond } }, effort)
}

/**
 * Measures a server, including the CPU time of all its threads per request. Repeats a round in which the server could
 * not keep up with the rate. After the last attempt, the result has the reached rate.
 */
export function underLoad(server: ServerProcess, load: Load): Measure {
  const generator = findGenerator()
  const { ratePerSecond = 0 } = load
  return async (seconds, isWarmUp) => {
    const timed = isWarmUp && ratePerSecond > 0 ? { ...load, ratePerSecond: warmUpRates * ratePerSecond } : load
    for (let attempt = 1; ; attempt += 1) {
      const before = await figuresOf(server)
      const { requests, ...result } = await generator.run({ ...timed, seconds, url: server.url, run: nextRun() })
      const after = await figuresOf(server)
      if (!isWarmUp && result.perSecond < rateShareMin * ratePerSecond) {
        const isLast = attempt === attemptsMax
        const missed = `${result.perSecond.toFixed(0)} of ${ratePerSecond} requests a second were answered`
        process.stderr.write(`${missed}: ${isLast ? 'this machine is too busy' : 'repeating the round'}\n`)
        if (!isLast) continue
      }
      const userMicroseconds = (after.userMicroseconds - before.userMicroseconds) / requests
      const systemMicroseconds = (after.systemMicroseconds - before.systemMicroseconds) / requests
      const cpuMicroseconds = userMicroseconds + systemMicroseconds
      return { ...result, cpuMicroseconds, userMicroseconds, systemMicroseconds, peakMebibytes: after.peakMebibytes }
    }
  }
}
