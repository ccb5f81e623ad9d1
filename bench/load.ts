// Sends creates to a server as fast as it answers: by wrk where it is installed, else by autocannon.

import { execFileSync, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'

export interface Load {
  readonly url: string
  readonly token: string
  readonly firstId: number
  readonly connections: number
  readonly seconds: number
  /** `create`: a plant with a new id each time; `get`: plants from 1 to 100,000 in no order; `list`: the first 1,000. */
  readonly kind: 'create' | 'get' | 'list'
  /** Requests a second, unless as many as there can be. */
  readonly ratePerSecond?: number
}

export interface LoadResult {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
}

export interface Generator {
  readonly name: string
  run(load: Load): Promise<LoadResult>
}

/** The load generator that this machine has. autocannon shares its speed with no server: it is the limit itself. */
export function findGenerator(): Generator {
  try {
    execFileSync('wrk', ['-v'], { stdio: 'ignore' })
  } catch (error) {
    // `wrk -v` prints its version and ends with 1.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return pacer
  }
  return { name: 'wrk', run: runWrk }
}

/** The load generator that can keep to a rate. */
export const pacer: Generator = { name: 'autocannon', run: runAutocannon }

async function runWrk({ url, token, firstId, connections, seconds, kind }: Load): Promise<LoadResult> {
  const script = fileURLToPath(new URL('load.lua', import.meta.url))
  const flags = [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--latency',
    '-s',
    script,
    url,
    '--',
    token,
    String(firstId),
    kind,
  ]
  const wrk = spawn('wrk', flags, { stdio: ['ignore', 'pipe', 'inherit'] })
  const output = (await wrk.stdout.toArray()).join('')
  const line = /^RESULT (.*)$/m.exec(output)?.[1]
  if (line === undefined) throw new Error(`wrk gave no result:\n${output}`)
  const { microseconds, failed, ...figures } = JSON.parse(line)
  if (failed > 0) throw new Error(`${failed} of ${figures.requests} requests failed`)
  return { ...figures, perSecond: figures.requests / (microseconds / 1e6) }
}

async function runAutocannon({
  url,
  token,
  firstId,
  connections,
  seconds,
  kind,
  ratePerSecond,
}: Load): Promise<LoadResult> {
  let id = firstId
  const create = (request: autocannon.Request): autocannon.Request => {
    id += 1
    return { ...request, body: `{"id":${id},"name":"Monstera deliciosa","tag":"aroid"}` }
  }
  const common = { connections, duration: seconds, ...(ratePerSecond !== undefined && { overallRate: ratePerSecond }) }
  const authorization = `Bearer ${token}`
  const get = (request: autocannon.Request): autocannon.Request => ({
    ...request,
    path: `/plants/${randomInt(1, 100_001)}`,
  })
  const result = await autocannon(
    kind === 'list'
      ? { ...common, url: `${url}/plants?limit=1000`, headers: { authorization } }
      : kind === 'get'
        ? { ...common, url, headers: { authorization }, requests: [{ setupRequest: get }] }
        : {
            ...common,
            url: `${url}/plants`,
            method: 'POST',
            headers: { authorization, 'content-type': 'application/json' },
            requests: [{ setupRequest: create }],
          },
  )
  const failed = result.non2xx + result.errors + result.timeouts
  if (failed > 0) throw new Error(`${failed} of ${result.requests.total} requests failed`)
  return {
    requests: result.requests.total,
    perSecond: result.requests.total / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    p999Ms: result.latency.p99_9,
  }
}
