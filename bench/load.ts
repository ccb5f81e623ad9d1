// Sends requests to a server, at its maximum or at a rate, with wrk if it is installed, otherwise with autocannon.

import { spawn, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'

/** A request. `{id}` in the path and the body is replaced by an id. */
export interface RequestTemplate {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: string
  readonly headers: Readonly<Record<string, string>>
  /** `next`: a new id in each run; `stored`: the plants 1, 2, 3, ... in random order; `turn`: these plants in order. */
  readonly ids: 'next' | 'stored' | 'turn'
}

export interface Load {
  readonly request: RequestTemplate
  /** The number of plants for `stored` and `turn`. */
  readonly plants?: number
  readonly connections: number
  /** Requests per second; by default as many as possible. */
  readonly ratePerSecond?: number
}

/** One run of a load. */
export interface LoadRun extends Load {
  readonly url: string
  /** The number of the run, from which its ids are made. */
  readonly run: number
  readonly seconds: number
}

export interface LoadResult {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  /** CPU time of the load generator, in percent of one core. */
  readonly generatorPercent: number
}

export interface Generator {
  readonly name: string
  run(load: LoadRun): Promise<LoadResult>
}

const answerSecondsMax = 10

/** The load generator of this machine. autocannon is usually slower than the servers. */
export function findGenerator(): Generator {
  // `wrk -v` prints its version and exits with 1.
  const { error, stdout } = spawnSync('wrk', ['-v'], { encoding: 'utf8' })
  if (error === undefined) return { name: /^wrk [^\s[]+/.exec(stdout)?.[0] ?? 'wrk', run: checked(runWrk) }
  return { name: 'autocannon', run: checked(runAutocannon) }
}

interface Failures {
  /** Responses with an error status. */
  readonly answers: number
  readonly timeouts: number
  readonly connections: number
}

type UncheckedResult = LoadResult & { readonly failures: Failures }

/** Rejects when a request fails. */
function checked(run: (load: LoadRun) => Promise<UncheckedResult>): Generator['run'] {
  return async (load) => {
    const { failures, ...result } = await run(load)
    const { answers, timeouts, connections } = failures
    if (answers + timeouts + connections > 0)
      throw new Error(
        `of ${result.requests} requests, ${answers} got an error, ${timeouts} no response in ${answerSecondsMax} s, and ${connections} lost their connection`,
      )
    return result
  }
}

async function runWrk(load: LoadRun): Promise<UncheckedResult> {
  const { url, request, plants = 0, connections, ratePerSecond = 0, run, seconds } = load
  const { method, path, body = '', headers, ids } = request
  const script = fileURLToPath(new URL('load.lua', import.meta.url))
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const flags = [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    `--timeout=${answerSecondsMax}s`,
    '--latency',
    '-s',
    script,
    ...fields,
    url,
    '--',
  ]
  const template = [method, path, body, ids, plants, run, ratePerSecond].map(String)
  const wrk = spawn('wrk', [...flags, ...template], { stdio: ['ignore', 'pipe', 'inherit'] })
  const output = (await wrk.stdout.toArray()).join('')
  const line = /^RESULT (.*)$/m.exec(output)?.[1]
  if (line === undefined) throw new Error(`wrk gave no result:\n${output}`)
  const { seconds: lasted, generatorSeconds, ...figures } = JSON.parse(line)
  const perSecond = figures.requests / lasted
  return { ...figures, perSecond, generatorPercent: (100 * generatorSeconds) / lasted }
}

async function runAutocannon(load: LoadRun): Promise<UncheckedResult> {
  const { url, request, connections, seconds, ratePerSecond } = load
  const { method, path, body, headers } = request
  const nextId = idsOf(load)
  const setupRequest = (each: autocannon.Request): autocannon.Request => {
    const id = nextId()
    return { ...each, path: path.replace('{id}', id), ...(body !== undefined && { body: body.replace('{id}', id) }) }
  }
  const before = process.cpuUsage()
  const result = await autocannon({
    ...{ url, method, headers, connections, duration: seconds, timeout: answerSecondsMax },
    ...{ requests: [{ setupRequest }] },
    ...(ratePerSecond !== undefined && { overallRate: ratePerSecond }),
  })
  const { user, system } = process.cpuUsage(before)
  return {
    requests: result.requests.total,
    perSecond: result.requests.total / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    p999Ms: result.latency.p99_9,
    generatorPercent: (user + system) / 1e4 / result.duration,
    failures: {
      answers: result['4xx'] + result['5xx'],
      timeouts: result.timeouts,
      connections: result.errors - result.timeouts,
    },
  }
}

/** Generates the same ids as load.lua. */
function idsOf({ request: { ids }, plants = 0, run }: LoadRun): () => string {
  let count = ids === 'next' ? run * 1_000_000_000 : 0
  return () => {
    if (ids === 'stored') return String(randomInt(plants) + 1)
    count = ids === 'turn' ? (count % plants) + 1 : count + 1
    return String(count)
  }
}
