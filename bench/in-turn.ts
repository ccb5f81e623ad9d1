// Measures servers side by side: each in its turn, round by round, so that a machine that changes its speed changes that
// of all of them.

import { cpus } from 'node:os'
import { findGenerator, type Generator, type Load, type LoadResult, pacer } from './load.ts'
import { figuresOf, median, row, type ServerProcess } from './process.ts'

const rounds = 7
const roundSeconds = 4
const warmUpSeconds = 3
/** Far enough apart that no two runs create the same plant. */
const idsPerRun = 1_000_000_000

/** Servers that are put to the same load; the others are compared to the first. */
export interface Contest {
  readonly title: string
  readonly servers: Readonly<Record<string, ServerProcess>>
  readonly load: Pick<Load, 'kind' | 'token' | 'connections'>
  /** What each of them takes easily. */
  readonly ratePerSecond: number
}

/** What one server did in one round; CPU time is that of all threads of the server, a request. */
interface Round extends LoadResult {
  readonly userMicroseconds: number
  readonly systemMicroseconds: number
  readonly cpuMicroseconds: number
  /** The most memory that the server has held so far. */
  readonly peakMebibytes: number
}

type Results = ReadonlyMap<string, readonly Round[]>

/**
 * Measures servers with as many requests as they can take, and then all with the same number a second, since a server
 * that is slower than its client wakes it at every answer, and pays for it. Prints both as tables.
 */
export async function compare({ title, servers, load, ratePerSecond }: Contest): Promise<void> {
  let runs = 0
  const most = { ...load, nextId: () => runs++ * idsPerRun }
  const generator = findGenerator()
  process.stdout.write(`${title}\n${tableOf(await runInTurn(servers, most, generator), most, generator)}`)
  const paced = { ...most, ratePerSecond }
  process.stdout.write(`\nThe same at ${ratePerSecond} requests a second:\n`)
  process.stdout.write(tableOf(await runInTurn(servers, paced, pacer), paced, pacer))
}

/** Runs the servers in turn, after one round that warms them up. Rejects when a request fails. */
async function runInTurn(
  servers: Contest['servers'],
  { nextId, ...load }: Omit<Load, 'url' | 'firstId' | 'seconds'> & { readonly nextId: () => number },
  generator: Generator,
): Promise<Results> {
  const results = new Map<string, Round[]>(Object.keys(servers).map((name) => [name, []]))
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, server] of Object.entries(servers)) {
      const seconds = round === 0 ? warmUpSeconds : roundSeconds
      const before = await figuresOf(server)
      const result = await generator.run({ ...load, url: server.url, firstId: nextId(), seconds })
      const after = await figuresOf(server)
      if (round === 0) continue
      const userMicroseconds = (after.userMicroseconds - before.userMicroseconds) / result.requests
      const systemMicroseconds = (after.systemMicroseconds - before.systemMicroseconds) / result.requests
      const cpuMicroseconds = userMicroseconds + systemMicroseconds
      const { peakMebibytes } = after
      results.get(name)?.push({ ...result, userMicroseconds, systemMicroseconds, cpuMicroseconds, peakMebibytes })
    }
  }
  return results
}

const columns: readonly (readonly [title: string, figure: keyof Round, digits: number])[] = [
  ['requests/s', 'perSecond', 0],
  ['p50 ms', 'p50Ms', 2],
  ['p99 ms', 'p99Ms', 2],
  ['p99.9 ms', 'p999Ms', 2],
  ['user us', 'userMicroseconds', 1],
  ['system us', 'systemMicroseconds', 1],
  ['peak MiB', 'peakMebibytes', 0],
]

/** Medians with the lowest and highest round, and ratios to the first server, as lines of text. */
function tableOf(results: Results, { connections }: Contest['load'], { name }: Generator): string {
  const [[baseline = '', base = []] = []] = [...results]
  const [cpu] = cpus()
  const lines = [
    `${connections} connections by ${name}, ${rounds} rounds of ${roundSeconds} s in turn, medians (lowest to highest); ` +
      `Node.js ${process.version}, ${cpus().length} cores of ${cpu?.model}; CPU is that of a request, all threads`,
    '',
    row(['', ...columns.map(([title]) => title)]),
  ]
  for (const [contender, each] of results) {
    const cells = columns.map(([, figure, digits]) => median(each.map((round) => round[figure])).toFixed(digits))
    const speeds = each.map(({ perSecond }) => perSecond)
    lines.push(row([contender, ...cells]))
    lines.push(row(['', `(${Math.min(...speeds).toFixed(0)}-${Math.max(...speeds).toFixed(0)})`]))
  }
  for (const [contender, each] of [...results].slice(1)) {
    const perSecond = ratioOf(each, base, 'perSecond')
    const cpuMicroseconds = ratioOf(each, base, 'cpuMicroseconds')
    lines.push(`${contender} / ${baseline}: requests/s ${perSecond}, CPU a request ${cpuMicroseconds}`)
  }
  return `${lines.join('\n')}\n`
}

/** The median of the ratios round by round. */
function ratioOf(each: readonly Round[], base: readonly Round[], figure: keyof Round): string {
  return median(each.map((round, index) => round[figure] / (base[index]?.[figure] ?? Number.NaN))).toFixed(2)
}
