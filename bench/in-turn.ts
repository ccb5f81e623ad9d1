// Measures contenders side by side: each in its turn, round by round, so that a machine that changes its speed changes
// that of all of them.

import { findGenerator, type Load } from './load.ts'
import { figuresOf, type ServerProcess } from './process.ts'
import { type Comparison, contendersOf, type Round } from './results.ts'

/** How long each contender is measured. */
export interface Effort {
  readonly rounds: number
  readonly roundSeconds: number
}

/** One round of one contender, for so long. That of a warm-up does not count. */
export type Measure = (seconds: number, isWarmUp: boolean) => Promise<Round>

export interface Contest extends Pick<Comparison, 'title' | 'connections' | 'ratePerSecond' | 'plants'> {
  /** What has to be known about the load, but for the rounds. */
  readonly setup: string
  /** The others are compared to the first. */
  readonly measures: Readonly<Record<string, Measure>>
}

/** Servers that are put to the same load; the others are compared to the first. */
export interface ServerContest {
  readonly title: string
  /** A server may need a request of its own, or have another number of plants. */
  readonly servers: Readonly<Record<string, ServerProcess & Partial<Pick<Load, 'request' | 'plants'>>>>
  readonly load: Load
}

const warmUpSeconds = 2
/** So many times the rate: code is compiled after so many requests, not after so many seconds. */
const warmUpRates = 10
/** A server that answers less than this share of the rate was not measured at that rate. */
const rateShareMin = 0.95
const attemptsMax = 3
let runs = 0

/** A number that no other run has: it makes its ids others than theirs. */
export const nextRun = (): number => ++runs

/** Measures contenders in turn, after one round that warms them up. Rejects when a request fails. */
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

/** Measures servers with as many requests as they can take, or all with the same number a second. */
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
    connections,
    ...(ratePerSecond !== undefined && { ratePerSecond }),
    ...(plants !== undefined && { plants }),
  }
  return measureInTurn(contest, effort)
}

/**
 * Both: a server that is slower than its client wakes it at every answer, and pays for it, so that only an equal rate
 * says what a request costs.
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
 * Measures a server, with the CPU time of all its threads, a request; anew when it could not keep up with the rate. When
 * it never can, the result says how many requests it took.
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
        process.stderr.write(`${missed}: ${isLast ? 'this machine is too busy' : 'measuring that again'}\n`)
        if (!isLast) continue
      }
      const userMicroseconds = (after.userMicroseconds - before.userMicroseconds) / requests
      const systemMicroseconds = (after.systemMicroseconds - before.systemMicroseconds) / requests
      const cpuMicroseconds = userMicroseconds + systemMicroseconds
      return { ...result, cpuMicroseconds, userMicroseconds, systemMicroseconds, peakMebibytes: after.peakMebibytes }
    }
  }
}
