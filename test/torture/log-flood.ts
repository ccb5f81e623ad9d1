// A disk that is full, and a database that is away, under load: the log says so, and how often, in a few lines.

import { rm, writeFile } from 'node:fs/promises'
import { Agent, type IncomingMessage, request as sendRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorNumbers } from '../../src/domain/errors.ts'
import { plantJson } from '../support/client.ts'
import { makeCluster, makeSmallDisk } from '../support/postgres.ts'
import { type RunningServer, type ServerOptions, startServer } from '../support/program.ts'
import type { Run, Torture, Verdict } from './torture.ts'

export const logFlood: Torture = {
  name: 'log-flood',
  counts: 'SECONDS',
  usualCount: 60,
  shortCount: 2,
  isSeeded: false,
  run,
}

const requestsPerSecond = 1_500
const everyMs = 20
const connectionsMax = 64
/** Of a minute, and of the start and the first failures. */
const minuteBytesMax = 80_000
const firstBytesMax = 20_000
const controlSeconds = 2
/** As logs were once: a line for each failure, and where it comes from. */
const unthinned: ServerOptions = { limits: { repeatedLineMs: 1, repeatedStackMs: 0 } }

interface Fault extends AsyncDisposable {
  readonly store: string
  /** Has what the store is kept on fail, or work again. */
  begin(): Promise<unknown>
  end(): Promise<unknown>
}

const faults = { 'a full disk': fullDisk, 'a database that is away': databaseAway } as const

async function run({ count, say }: Run): Promise<Verdict> {
  let isGood = true
  for (const [title, makeFault] of Object.entries(faults)) {
    await using fault = await makeFault()
    if (fault === undefined) return 'missing'
    const token = await makeToken(fault)
    const runs = [
      ...(['errors', 'all'] as const).map((level) => [`--log ${level}`, count, { args: ['--log', level] }] as const),
      ['control', controlSeconds, unthinned] as const,
    ]
    for (const [what, seconds, options] of runs) {
      const { answers, logged, bytes, tookSeconds } = await flood(fault, token, seconds, options)
      const total = [...answers.values()].reduce((sum, each) => sum + each, 0)
      const bytesMax = firstBytesMax + (minuteBytesMax * tookSeconds) / 60
      const isCounted = [...answers].every(([error, times]) => logged.get(error) === times)
      say(
        `  ${title}, ${what}: ${total} failures in ${tookSeconds.toFixed(0)} s (${[...answers.keys()].join(', ')}), ` +
          `${isCounted ? 'all of them counted' : `of which ${JSON.stringify([...logged])} were counted`} in ${bytes} bytes`,
      )
      isGood &&= total > 0 && (what === 'control' ? bytes > bytesMax : isCounted && bytes <= bytesMax)
    }
  }
  return isGood ? 'good' : 'bad'
}

async function fullDisk(): Promise<Fault | undefined> {
  const disk = await makeSmallDisk(2)
  if (disk === undefined) return undefined
  return {
    store: `${disk.path}/plants.db`,
    begin: () => writeFile(`${disk.path}/filler`, Buffer.alloc(4 * 1024 * 1024)).catch(() => {}),
    end: () => rm(`${disk.path}/filler`),
    [Symbol.asyncDispose]: () => disk[Symbol.asyncDispose](),
  }
}

async function databaseAway(): Promise<Fault> {
  const cluster = await makeCluster()
  await cluster.start()
  return {
    store: cluster.url,
    begin: () => cluster.stop('immediate'),
    end: () => cluster.start(),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  }
}

interface Flooded {
  /** Answers of 5xx by their error. */
  readonly answers: ReadonlyMap<string, number>
  /** How many of each the log tells of. */
  readonly logged: ReadonlyMap<string, number>
  readonly bytes: number
  /** Until the last answer, which a busy machine delays. */
  readonly tookSeconds: number
}

async function makeToken({ store }: Fault): Promise<string> {
  await using server = await startServer(store)
  await server.stop()
  return server.token
}

async function flood(fault: Fault, token: string, seconds: number, options: ServerOptions): Promise<Flooded> {
  await using server = await startServer(fault.store, options)
  await fault.begin()
  const agent = new Agent({ keepAlive: true, maxSockets: connectionsMax })
  const answers = new Map<string, number>()
  const asked: Promise<void>[] = []
  const startedMs = performance.now()
  for (let id = 0; performance.now() - startedMs < seconds * 1_000; await sleep(everyMs)) {
    const due = ((performance.now() - startedMs) / 1_000) * requestsPerSecond
    for (; id < due; id += 1)
      asked.push(create({ port: server.port, token }, agent, id).then((error) => add(answers, error, 1)))
  }
  await Promise.all(asked)
  const tookSeconds = (performance.now() - startedMs) / 1_000
  agent.destroy()
  await server.stop()
  await fault.end()
  const { stdout, stderr } = server.output
  const logged = new Map<string, number>()
  for (const line of stdout.trimEnd().split('\n')) {
    const { error, status, leftOut = 0 } = JSON.parse(line)
    if (status >= 500) add(logged, error, 1 + leftOut)
  }
  return { answers, logged, bytes: Buffer.byteLength(stdout + stderr), tookSeconds }
}

/** Asks for a plant, and gives the name of the error of a 5xx. */
async function create(
  { port, token }: Pick<RunningServer, 'port' | 'token'>,
  agent: Agent,
  id: number,
): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const request = sendRequest({ agent, host: '127.0.0.1', port, method: 'POST', path: '/plants', headers }, resolve)
  // As large as it may be: a small one would find some room.
  request.on('error', reject).end(plantJson(BigInt(id), '\u{1f33f}'.repeat(512)))
  const response = await promise
  const body = await text(response)
  return (response.statusCode ?? 0) < 500 ? undefined : nameOf(JSON.parse(body).error)
}

function nameOf(error: number): string {
  const [name = String(error)] = Object.entries(errorNumbers).find(([, number]) => number === error) ?? []
  return name
}

function add(counts: Map<string, number>, key: string | undefined, more: number): void {
  if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + more)
}
